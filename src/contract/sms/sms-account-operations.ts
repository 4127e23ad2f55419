/** Operations by which an account sees its SMS services and its money, and what a text would cost. */
import * as z from 'zod';
import { MAX_SMS_NUMBERS, MAX_SMS_UNITS } from '../../model/limits.ts';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { CURRENCY_DATA, LEDGER_ENTRY, MILLISECONDS, SAMPLE_CURRENCY, SAMPLE_ENTRY } from '../schema/amount-fields.ts';
import { anyText, choice, FLAG_TEXT, integer, optional } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { appKey } from './sms-fields.ts';

const SAMPLE_KEY = 'sms_Vn2rT8wq0Zb5yLkC';

export const SMS_ACCOUNT_OPERATIONS = {
  'sms.listApps': operation({
    summary: { 'zh-CN': '分页查询本账户的短信服务', en: "Lists the account's SMS services, a page at a time" },
    request: request(PAGE_FIELDS),
    data: z.object({
      total: z.int(),
      list: z.array(
        z.object({
          app_key: z.string(),
          name: z.string(),
          status: z.union([z.literal(0), z.literal(1)]).describe('0 disabled, 1 available'),
          has_webhook: FLAG_TEXT,
          created_at: MILLISECONDS.describe('Unix milliseconds'),
        }),
      ),
    }),
    sample: {
      request: { page: 1, page_size: 20 },
      data: {
        total: 1,
        list: [{ app_key: SAMPLE_KEY, name: 'shop', status: 1, has_webhook: '0', created_at: 1_769_832_000_000 }],
      },
    },
  }),
  'sms.split': operation({
    summary: {
      'zh-CN': '计算一段文本会成为几条短信及其价格，不发送',
      en: 'Shows the parts and the price of a text without sending it',
    },
    request: request({
      app_key: appKey,
      kind: optional(
        choice(['ordinary', 'advertising'], {
          'zh-CN': 'ordinary（默认，普通）或 advertising（营销）',
          en: 'ordinary (the default) or advertising',
        }),
      ),
      mobile: optional(
        anyText({
          'zh-CN': `以逗号分隔的手机号，至多 ${MAX_SMS_NUMBERS} 个；ordinary 只有一个`,
          en: `comma-separated mobile numbers, at most ${MAX_SMS_NUMBERS}; one with ordinary`,
        }),
      ),
      content: {
        ...anyText({
          'zh-CN': `短信内容，至多 ${MAX_SMS_UNITS} 个字符，以 UTF-8 做 URL 编码`,
          en: `the text, at most ${MAX_SMS_UNITS} characters, URL-encoded as UTF-8`,
        }),
        isSecret: true as const,
      },
    }),
    data: z.object({
      characters: z.int().describe('UTF-16 units of the text with the suffix of the service'),
      alphabet: z
        .enum(['gsm7', 'ucs2'])
        .describe('smallest alphabet that has all characters; parts are counted alike with either'),
      parts: z.array(z.object({ part: z.int().describe('from 1'), text: z.string(), characters: z.int() })),
      numbers: z.int().describe('numbers that it would be sent to; 1 without `mobile`'),
      opted_out: z.int().describe('further numbers that have opted out, which cost nothing'),
      price: z
        .int()
        .describe('price of all parts to all numbers; without `mobile` to one number that no prefix covers'),
      ...CURRENCY_DATA,
    }),
    sample: {
      request: { app_key: SAMPLE_KEY, mobile: '13800138000', content: '%E4%BD%A0%E5%A5%BD' },
      data: {
        characters: 2,
        alphabet: 'ucs2',
        parts: [{ part: 1, text: '你好', characters: 2 }],
        numbers: 1,
        opted_out: 0,
        price: 1,
        ...SAMPLE_CURRENCY,
      },
    },
  }),
  'sms.listLedger': operation({
    summary: {
      'zh-CN': '查询本账户的流水，新的在前',
      en: "Lists the entries of the account's ledger, the newest first",
    },
    request: request({
      before: optional(integer(1, Number.MAX_SAFE_INTEGER)),
      page_size: PAGE_FIELDS.page_size,
    }),
    data: z.object({
      balance: z.int().describe('the sum of all entries'),
      ...CURRENCY_DATA,
      list: z.array(LEDGER_ENTRY),
    }),
    sample: {
      request: { page_size: 20 },
      data: { balance: 1000, ...SAMPLE_CURRENCY, list: [SAMPLE_ENTRY] },
    },
  }),
};
