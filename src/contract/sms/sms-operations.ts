/** What the operations on the SMS base address take and give. docs/decisions/0210, 0211 */
import * as z from 'zod';
import { MAX_SMS_NUMBERS, MAX_SMS_UNITS } from '../../model/limits.ts';
import { PART_STATES } from '../../model/sms-part.ts';
import { listWithNext, MAX_PAGE_SIZE } from '../domains/list-fields.ts';
import { CURRENCY_DATA, MILLISECONDS, SAMPLE_CURRENCY } from '../schema/amount-fields.ts';
import {
  anyText,
  choice,
  flag,
  integer,
  optional,
  optionalHttpUrl,
  signedInteger,
  text,
  unixTime,
} from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { WIRE_SMS_APP_SETTINGS } from '../settings/settings.ts';
import { WORD_GROUPS } from './sms-connector-fields.ts';
import {
  anyAppKey,
  appKey,
  KIND_DATA,
  mobile,
  numbers,
  OPT_OUT_DATA,
  OPT_OUT_PAGE,
  PRICE_DATA,
  TIME_DATA,
  timestamp,
} from './sms-fields.ts';

const MAX_SENDID_LENGTH = 64;

const content = anyText({
  'zh-CN': `短信内容，至多 ${MAX_SMS_UNITS} 个字符，以 UTF-8 做 URL 编码`,
  en: `the text, at most ${MAX_SMS_UNITS} characters, URL-encoded as UTF-8`,
});
const smsType = signedInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, {
  'zh-CN': '1（默认）或 2（通知短信）',
  en: '1 (the default) or 2 (a notification)',
});
const sendid = text({ min: 1, max: MAX_SENDID_LENGTH });
/** Fields of every message, whatever its kind. */
const MESSAGE_FIELDS = { content, time: timestamp };

const marketingHours = {
  schema: text({ max: 11 }).schema.refine(isHours),
  kind: 'text' as const,
  expects: {
    'zh-CN': '营销短信的发送时段，如 08:00-22:00，或 off（不限制）',
    en: 'the hours of advertising, such as 08:00-22:00, or off for any time',
  },
  json: { type: 'string', pattern: '^(off|[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9])$' },
};
const timeZone = {
  schema: text({ min: 1, max: 64 }).schema.refine(isTimeZone),
  kind: 'text' as const,
  expects: { 'zh-CN': 'IANA 时区，如 Asia/Shanghai', en: 'an IANA time zone, such as Asia/Shanghai' },
  json: { type: 'string' },
};

const SETTINGS_DATA = z.object({
  app_key: z.string(),
  name: z.string(),
  status: z.union([z.literal(0), z.literal(1)]).describe('0 disabled, 1 available'),
  marketing_hours: z.string().describe('hours of advertising, or off'),
  time_zone: z.string().describe('time zone of marketing_hours'),
  ...WIRE_SMS_APP_SETTINGS.data,
});

const WEBHOOK_DATA = z
  .object({
    url: z.string().describe('empty: none'),
    secret: z.string().describe('key that the posts are signed with; empty without an address'),
  })
  .meta({ id: 'SmsWebhook' });

const SENT = z.object({ sendid: z.string().describe('send serial number') });
const SAMPLE_KEY = 'sms_Vn2rT8wq0Zb5yLkC';
const SAMPLE_TIME = '1769832000000';
const SAMPLE_SENDID = '17698320000001234567';

export const SMS_OPERATIONS = {
  'sms.ordinary': operation({
    summary: { 'zh-CN': '发送普通短信', en: 'Sends an ordinary SMS to one number' },
    request: request({
      app_key: anyAppKey,
      mobile: anyText({ 'zh-CN': '一个有效的手机号', en: 'one valid mobile number' }),
      ...MESSAGE_FIELDS,
      smsType: optional(smsType),
    }),
    data: SENT,
    sample: {
      request: { app_key: SAMPLE_KEY, mobile: '13800138000', content: '%E4%BD%A0%E5%A5%BD', time: SAMPLE_TIME },
      data: { sendid: SAMPLE_SENDID },
    },
  }),
  'sms.advertising': operation({
    summary: { 'zh-CN': '发送营销短信', en: 'Sends a marketing SMS to many numbers' },
    request: request({
      app_key: anyAppKey,
      mobile: anyText({
        'zh-CN': `以逗号分隔的手机号，至多 ${MAX_SMS_NUMBERS} 个`,
        en: `comma-separated mobile numbers, at most ${MAX_SMS_NUMBERS}`,
      }),
      ...MESSAGE_FIELDS,
    }),
    data: SENT,
    sample: {
      request: {
        app_key: SAMPLE_KEY,
        mobile: '13800138000,13900139000',
        content: '%E4%BD%A0%E5%A5%BD',
        time: SAMPLE_TIME,
      },
      data: { sendid: SAMPLE_SENDID },
    },
  }),
  'sms.updateStatus': operation({
    summary: {
      'zh-CN': '切换短信服务的状态；带 status 时设为该状态',
      en: 'Toggles the status of an SMS service, or sets it to the given one',
    },
    request: request({ app_key: anyAppKey, time: timestamp, status: optional(flag) }),
    data: z.object({ status: z.union([z.literal(0), z.literal(1)]).describe('0 disabled, 1 available') }),
    sample: { request: { app_key: SAMPLE_KEY, time: SAMPLE_TIME }, data: { status: 0 } },
  }),

  'sms.getStatus': operation({
    summary: {
      'zh-CN': '按发送流水号查询每个号码的状态',
      en: 'Gets the status of a request, by number and part',
    },
    request: request({ sendid }),
    data: z.object({
      sendid: z.string(),
      app_key: z.string(),
      kind: KIND_DATA,
      create_time: TIME_DATA,
      numbers: z.array(
        z.object({
          mobile: z.string().describe('+ and digits'),
          status: z.enum(PART_STATES).describe('the status of the message, made from its parts'),
          price: z.int().describe('price of each part'),
          parts: z.array(
            z.object({
              part: z.int().describe('from 1'),
              status: z.enum(PART_STATES),
              submit_time: TIME_DATA.describe('as done_time; also empty for a simulated part'),
              done_time: TIME_DATA,
              error: z.string().describe('why it waits or failed; empty: no error'),
              last_word: z
                .string()
                .describe("the last status word of the carrier's receipts, unchanged; empty: none yet"),
              group: z
                .enum(['', ...WORD_GROUPS])
                .describe("kind of failure by the connector's status_words; empty: unknown"),
              text: z.string().describe('the failure as a localised text; empty: none'),
              sends: z.int().describe('how often it may have been sent; 0 for a simulated part'),
            }),
          ),
        }),
      ),
    }),
    sample: {
      request: { sendid: SAMPLE_SENDID },
      data: {
        sendid: SAMPLE_SENDID,
        app_key: SAMPLE_KEY,
        kind: 'ordinary',
        create_time: '2026-01-31 12:00:00',
        numbers: [
          {
            mobile: '+8613800138000',
            status: 'simulated',
            price: 1,
            parts: [
              {
                part: 1,
                status: 'simulated',
                submit_time: '',
                done_time: '2026-01-31 12:00:01',
                error: '',
                last_word: '',
                group: '',
                text: '',
                sends: 0,
              },
            ],
          },
        ],
      },
    },
  }),
  'sms.list': operation({
    summary: { 'zh-CN': '查询已受理的请求，新的在前', en: 'Lists accepted requests, the newest first' },
    request: request({
      app_key: optional(appKey),
      before: optional(sendid),
      page_size: optional(integer(1, MAX_PAGE_SIZE)),
    }),
    data: listWithNext('before', {
      sendid: z.string(),
      app_key: z.string(),
      kind: KIND_DATA,
      create_time: TIME_DATA,
      numbers: z.int(),
      parts: z.int().describe('parts of all numbers'),
      price: z.int().describe('price of all parts, as held at acceptance'),
    }),
    sample: {
      request: { page_size: 20 },
      data: {
        list: [
          {
            sendid: SAMPLE_SENDID,
            app_key: SAMPLE_KEY,
            kind: 'ordinary',
            create_time: '2026-01-31 12:00:00',
            numbers: 1,
            parts: 1,
            price: 1,
          },
        ],
        next: '',
      },
    },
  }),
  'sms.listReplies': operation({
    summary: { 'zh-CN': '查询手机回复，新的在前', en: 'Lists replies of phones, the newest first' },
    request: request({
      app_key: optional(appKey),
      mobile: optional(mobile),
      from: optional(unixTime),
      to: optional(unixTime),
      before: optional(integer(1, Number.MAX_SAFE_INTEGER)),
      page_size: optional(integer(1, MAX_PAGE_SIZE)),
    }),
    data: listWithNext('before', {
      reply_id: z.string(),
      app_key: z.string().describe('service that wrote to the number last'),
      mobile: z.string().describe('+ and digits, or the address as the carrier wrote it'),
      text: z.string(),
      coding: z.int().optional().describe('data_coding of the octets; only if `text` is hex: and octets'),
      create_time: TIME_DATA,
      created_at: MILLISECONDS.describe('create_time in Unix milliseconds'),
      reference: z.int().describe('the same for all parts of a long reply'),
      part: z.int().describe('from 1'),
      parts: z.int().describe('1: not split'),
    }),
    sample: {
      request: { page_size: 20 },
      data: {
        list: [
          {
            reply_id: '1',
            app_key: SAMPLE_KEY,
            mobile: '+8613800138000',
            text: 'TD',
            create_time: '2026-01-31 12:00:00',
            created_at: 1_769_832_000_000,
            reference: 0,
            part: 1,
            parts: 1,
          },
        ],
        next: '',
      },
    },
  }),
  'sms.balance': operation({
    summary: { 'zh-CN': '查询余额和单价', en: 'Gets the balance of the account and the price of a part' },
    request: request({}),
    data: z.object({
      balance: z.int().describe('amount in the smallest unit'),
      ...CURRENCY_DATA,
      prices: z.array(PRICE_DATA),
    }),
    sample: {
      request: {},
      data: { balance: 1000, ...SAMPLE_CURRENCY, prices: [{ kind: 'ordinary', prefix: '', price: 1 }] },
    },
  }),
  'sms.getOptOuts': operation({
    summary: { 'zh-CN': '查询退订的号码', en: 'Lists numbers that have opted out of advertising' },
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
  'sms.addOptOuts': operation({
    summary: {
      'zh-CN': '添加退订的号码；正在等待的营销短信不再发送',
      en: 'Opts numbers out of advertising; advertising that waits for them is not sent',
    },
    request: request({ mobile: numbers }),
    data: z.boolean(),
    sample: { request: { mobile: '13800138000' }, data: true },
  }),
  'sms.removeOptOuts': operation({
    summary: { 'zh-CN': '删除退订的号码', en: 'Removes opt-outs of numbers' },
    request: request({ mobile: numbers }),
    data: z.boolean().describe('false: none of them had opted out'),
    sample: { request: { mobile: '13800138000' }, data: true },
  }),
  'sms.getSettings': operation({
    summary: { 'zh-CN': '查询短信服务的设置', en: 'Shows the settings of an SMS service' },
    request: request({ app_key: appKey }),
    data: SETTINGS_DATA,
    sample: {
      request: { app_key: SAMPLE_KEY },
      data: {
        app_key: SAMPLE_KEY,
        name: 'shop',
        status: 1,
        marketing_hours: '08:00-22:00',
        time_zone: 'Asia/Shanghai',
        ...WIRE_SMS_APP_SETTINGS.defaultData,
      },
    },
  }),
  'sms.setSettings': operation({
    summary: { 'zh-CN': '修改短信服务的设置', en: 'Changes the given settings of an SMS service' },
    request: request({
      app_key: appKey,
      marketing_hours: optional(marketingHours),
      time_zone: optional(timeZone),
      ...WIRE_SMS_APP_SETTINGS.optionalFields,
    }),
    data: z.boolean(),
    sample: { request: { app_key: SAMPLE_KEY, marketing_hours: '09:00-21:00' }, data: true },
  }),
  'sms.getWebhook': operation({
    summary: { 'zh-CN': '查询回执和回复的推送地址', en: 'Shows the webhook for receipts and replies' },
    request: request({ app_key: appKey }),
    data: WEBHOOK_DATA,
    sample: { request: { app_key: SAMPLE_KEY }, data: { url: '', secret: '' } },
  }),
  'sms.setWebhook': operation({
    summary: { 'zh-CN': '设置回执和回复的推送地址', en: 'Sets the webhook for receipts and replies' },
    request: request({
      app_key: appKey,
      url: optionalHttpUrl,
      rotate: optional(
        choice(['0', '1'], {
          'zh-CN': '1（更换签名密钥）或 0（保留）',
          en: '1 for a new secret, 0 to keep the stored one',
        }),
      ),
    }),
    data: WEBHOOK_DATA,
    sample: {
      request: { app_key: SAMPLE_KEY, url: 'https://shop.example/sms' },
      data: { url: 'https://shop.example/sms', secret: 'b7c1…' },
    },
  }),
};

function isHours(value: string): boolean {
  const [, from, to] = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(value) ?? [];
  return value === 'off' || (from !== undefined && from !== to);
}

function isTimeZone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // a RangeError is all that it throws
  }
}
