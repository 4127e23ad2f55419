/** What the `/operator/*` operations of SMS take and give: apps, money, connectors and routes. */
import * as z from 'zod';
import { listWithNext, PAGE_FIELDS } from '../domains/list-fields.ts';
import { LEDGER_ENTRY, SAMPLE_ENTRY } from '../schema/amount-fields.ts';
import {
  choice,
  clearable,
  commaList,
  FLAG_TEXT,
  flag,
  identifier,
  integer,
  optional,
  signedInteger,
  text,
} from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { SMS_IF_REVISION, SMS_REVISION_DATA } from '../schema/revision-fields.ts';
import { CONNECTOR_DATA, CONNECTOR_FIELDS } from './sms-connector-fields.ts';
import { numbers, OPT_OUT_DATA, OPT_OUT_PAGE, PRICE_DATA, prefix, TIME_DATA } from './sms-fields.ts';

const MAX_NAME_LENGTH = 64;
const MAX_AMOUNT = Number.MAX_SAFE_INTEGER;
/** Highest price of a part; sums of a request stay far below the largest safe integer. */
const MAX_PRICE = 1_000_000_000;
const MAX_REFERENCE_LENGTH = 64;
const MAX_LEDGER_ID = Number.MAX_SAFE_INTEGER;
const MAX_UNREAD_ID = Number.MAX_SAFE_INTEGER;
const MAX_CONNECTORS_PER_ROUTE = 10;

const name = text({ min: 1, max: MAX_NAME_LENGTH });
const kind = choice(['ordinary', 'advertising'], {
  'zh-CN': 'ordinary（普通）或 advertising（营销）',
  en: 'ordinary or advertising',
});
const connectors = commaList({
  maxEntries: MAX_CONNECTORS_PER_ROUTE,
  maxLength: MAX_NAME_LENGTH,
  expects: {
    'zh-CN': `通道名称的数组，或以逗号分隔的文本，优先的在前，至多 ${MAX_CONNECTORS_PER_ROUTE} 个；空：删除路由`,
    en: `an array of connector names, or a comma-separated text, the preferred first, at most ${MAX_CONNECTORS_PER_ROUTE}; empty to delete the route`,
  },
  each: { 'zh-CN': '通道名称', en: 'the name of a connector' },
});

const SAMPLE_KEY = 'sms_Vn2rT8wq0Zb5yLkC';

export const SMS_OPERATOR_OPERATIONS = {
  'smsOperator.createApp': operation({
    summary: {
      'zh-CN': '为账户创建短信服务；只有一个客户账户时可省略 account_id',
      en: 'Creates an SMS service for an account, which need not be named if it is the only customer',
    },
    request: request({
      account_id: optional(identifier),
      name,
      balance: optional(integer(0, MAX_AMOUNT)),
    }),
    data: z.object({
      app_key: z.string(),
      account_id: z.string(),
      balance: z.int().describe('balance of the account, including the opening balance'),
    }),
    sample: {
      request: { account_id: '2', name: 'shop', balance: 1000 },
      data: { app_key: SAMPLE_KEY, account_id: '2', balance: 1000 },
    },
  }),
  'smsOperator.listApps': operation({
    summary: { 'zh-CN': '分页查询短信服务', en: 'Lists SMS services, a page at a time' },
    request: request({ account_id: optional(identifier), ...PAGE_FIELDS }),
    data: z.object({
      total: z.int(),
      list: z.array(
        z.object({
          app_key: z.string(),
          account_id: z.string(),
          name: z.string(),
          status: z.union([z.literal(0), z.literal(1)]).describe('0 disabled, 1 available'),
          create_time: TIME_DATA,
        }),
      ),
    }),
    sample: {
      request: { page: 1, page_size: 20 },
      data: {
        total: 1,
        list: [{ app_key: SAMPLE_KEY, account_id: '2', name: 'shop', status: 1, create_time: '2026-01-31 12:00:00' }],
      },
    },
  }),
  'smsOperator.recharge': operation({
    summary: { 'zh-CN': '为账户充值；负数为扣减', en: "Adds to an account's balance; a negative amount subtracts" },
    request: request({
      account_id: identifier,
      amount: signedInteger(-MAX_AMOUNT, MAX_AMOUNT, {
        'zh-CN': '最小货币单位的整数，可为负数',
        en: 'an integer in the smallest unit, possibly negative',
      }),
      reference: optional(text({ min: 1, max: MAX_REFERENCE_LENGTH })),
    }),
    data: z.object({ balance: z.int() }),
    sample: { request: { account_id: '2', amount: 500 }, data: { balance: 1500 } },
  }),
  'smsOperator.listLedger': operation({
    summary: { 'zh-CN': '查询账户的流水，新的在前', en: "Lists the entries of an account's ledger, the newest first" },
    request: request({
      account_id: identifier,
      before: optional(integer(1, MAX_LEDGER_ID)),
      page_size: PAGE_FIELDS.page_size,
    }),
    data: z.object({
      balance: z.int().describe('the sum of all entries'),
      list: z.array(LEDGER_ENTRY),
    }),
    sample: { request: { account_id: '2' }, data: { balance: 1000, list: [SAMPLE_ENTRY] } },
  }),
  'smsOperator.setPrice': operation({
    summary: {
      'zh-CN': '设置每条短信的单价；省略 price 则删除该前缀的单价',
      en: "Sets the price of a part, by kind and prefix; without `price` the prefix's own price is deleted",
    },
    request: request({ kind, prefix: clearable(prefix), price: optional(integer(0, MAX_PRICE)) }),
    data: z.boolean(),
    sample: { request: { kind: 'ordinary', prefix: '+852', price: 8 }, data: true },
  }),
  'smsOperator.listPrices': operation({
    summary: { 'zh-CN': '查询单价', en: 'Lists the prices of a part' },
    request: request({}),
    data: z.object({ list: z.array(PRICE_DATA) }),
    sample: { request: {}, data: { list: [{ kind: 'ordinary', prefix: '', price: 1 }] } },
  }),
  'smsOperator.setConnector': operation({
    summary: { 'zh-CN': '添加或修改通道', en: 'Adds a connector, or changes the given settings of an existing one' },
    request: request({ name, ...CONNECTOR_FIELDS, ...SMS_IF_REVISION }),
    data: z.boolean(),
    sample: {
      request: { name: 'carrier', host: 'smsc.example', port: 2775, system_id: 'shop', password: 'secret' },
      data: true,
    },
  }),
  'smsOperator.listConnectors': operation({
    summary: { 'zh-CN': '查询通道，不含密码', en: 'Lists connectors, without their passwords' },
    request: request({}),
    data: z.object({ list: z.array(CONNECTOR_DATA.extend(SMS_REVISION_DATA)) }),
    sample: {
      request: {},
      data: { list: [{ name: 'loopback', kind: 'loopback', enabled: '1', rate: 0, revision: '166204139523307' }] },
    },
  }),
  'smsOperator.testConnector': operation({
    summary: {
      'zh-CN': '以通道的设置建立一次会话，不发送短信',
      en: 'Opens a separate session with the settings of a connector, and sends no message',
    },
    request: request({ name }),
    data: z.object({ bound: FLAG_TEXT.describe('1: the carrier accepted the session'), detail: z.string() }),
    sample: { request: { name: 'loopback' }, data: { bound: '1', detail: 'it reaches no carrier, and simulates' } },
  }),
  'smsOperator.deleteConnector': operation({
    summary: {
      'zh-CN': '删除通道：没有路由使用它，且其短信都已有结果',
      en: 'Deletes a connector that no route uses, and whose parts all have an outcome',
    },
    request: request({ name }),
    data: z.boolean(),
    sample: { request: { name: 'carrier' }, data: true },
  }),
  'smsOperator.setRoute': operation({
    summary: { 'zh-CN': '设置号码前缀使用的通道', en: 'Sets the connectors for the numbers of a prefix' },
    request: request({ prefix: clearable(prefix), connectors, ...SMS_IF_REVISION }),
    data: z.boolean(),
    sample: { request: { prefix: '+852', connectors: 'loopback' }, data: true },
  }),
  'smsOperator.listRoutes': operation({
    summary: { 'zh-CN': '查询路由', en: 'Lists routes' },
    request: request({}),
    data: z.object({
      list: z.array(z.object({ prefix: z.string(), connectors: z.array(z.string()), ...SMS_REVISION_DATA })),
    }),
    sample: { request: {}, data: { list: [{ prefix: '', connectors: ['loopback'], revision: '89716223640129' }] } },
  }),
  'smsOperator.listUnread': operation({
    summary: {
      'zh-CN': '查询运营商送来而无法解读的内容，新的在前',
      en: 'Lists deliveries of carriers that could not be read, the newest first',
    },
    request: request({
      before: optional(integer(1, MAX_UNREAD_ID)),
      page_size: PAGE_FIELDS.page_size,
    }),
    data: listWithNext('before', {
      unread_id: z.string(),
      connector: z.string().describe('empty: it was deleted since'),
      reason: z.string().describe('cut: it ends before its text; empty: a receipt or acknowledgement without content'),
      command: z.string().describe('such as deliver_sm'),
      octets: z.string().describe('unchanged, two hexadecimal digits each; the first 4096'),
      create_time: TIME_DATA,
    }),
    sample: { request: { page_size: 20 }, data: { list: [], next: '' } },
  }),
  'smsOperator.setOptOuts': operation({
    summary: {
      'zh-CN': '对所有账户退订或恢复号码',
      en: 'Opts numbers out of the advertising of all accounts, or in again',
    },
    request: request({ mobile: numbers, opted_out: flag }),
    data: z.boolean().describe('false: none of the numbers to remove had opted out'),
    sample: { request: { mobile: '13800138000', opted_out: '1' }, data: true },
  }),
  'smsOperator.getOptOuts': operation({
    summary: {
      'zh-CN': '查询对所有账户退订的号码',
      en: 'Lists numbers that have opted out of the advertising of all accounts',
    },
    request: request(OPT_OUT_PAGE),
    data: OPT_OUT_DATA,
    sample: {
      request: {},
      data: {
        list: [{ mobile: '+8613800138000', create_time: '2026-01-31 12:00:00', created_at: 1_769_832_000_000 }],
        next: '',
      },
    },
  }),
};
