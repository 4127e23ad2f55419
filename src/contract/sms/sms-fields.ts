/** Fields and data that the operations of SMS have in common. */
import * as z from 'zod';
import { MAX_SMS_NUMBERS } from '../../model/limits.ts';
import { listWithNext, MAX_PAGE_SIZE } from '../domains/list-fields.ts';
import { MILLISECONDS } from '../schema/amount-fields.ts';
import { anyText, commaList, integer, matching, optional, text } from '../schema/fields.ts';

/** More than any way to write a number has. */
const MAX_NUMBER_LENGTH = 32;
const MAX_APP_KEY_LENGTH = 128;

export const appKey = {
  ...text({ min: 1, max: MAX_APP_KEY_LENGTH }),
  expects: {
    'zh-CN': `短信服务标识，1 到 ${MAX_APP_KEY_LENGTH} 个字符的文本`,
    en: `the app_key of an SMS service, a text of 1 to ${MAX_APP_KEY_LENGTH} characters`,
  },
};

/**
 * The key in operations of the interface document: a malformed key is answered like any unknown one, and text that no
 * database accepts is replaced by letters that no service's key has.
 */
export const anyAppKey = {
  ...anyText(appKey.expects),
  schema: anyText(appKey.expects).schema.transform((value) => value.toWellFormed().replaceAll('\0', '\u2400')),
};

export const timestamp = anyText({
  'zh-CN': '1970-01-01 以来的毫秒数，13 位数字的文本',
  en: 'milliseconds since 1970-01-01, a text of 13 digits',
});

/** Numbers that are a list, not a message's. */
export const numbers = commaList({
  maxEntries: MAX_SMS_NUMBERS,
  maxLength: MAX_NUMBER_LENGTH,
  expects: {
    'zh-CN': `手机号的数组，或以逗号分隔的文本，至多 ${MAX_SMS_NUMBERS} 个`,
    en: `an array of mobile numbers, or a comma-separated text, at most ${MAX_SMS_NUMBERS}`,
  },
  each: { 'zh-CN': '手机号', en: 'a mobile number' },
});

/** A number or its beginning. */
export const prefix = matching(/^(\+[1-9]\d{0,14})?$/, {
  'zh-CN': '号码前缀：+ 和 1 到 15 位数字，或空（所有号码）',
  en: 'a number prefix: + and 1 to 15 digits, or empty for every number',
});

/** One number. */
export const mobile = {
  ...text({ min: 1, max: MAX_NUMBER_LENGTH }),
  expects: { 'zh-CN': '一个手机号', en: 'a mobile number' },
};

export const KIND_DATA = z.enum(['ordinary', 'advertising']);

export const TIME_DATA = z.string().describe("YYYY-MM-DD HH:MM:SS in the service's time zone; empty: not yet");

/** A page of numbers that want no advertising. */
export const OPT_OUT_PAGE = {
  prefix: optional(prefix),
  after: optional(text({ max: 32 })),
  page_size: optional(integer(1, MAX_PAGE_SIZE)),
};

export const OPT_OUT_DATA = listWithNext('after', {
  mobile: z.string(),
  create_time: TIME_DATA,
  created_at: MILLISECONDS.describe('create_time in Unix milliseconds'),
}).meta({
  id: 'SmsOptOuts',
});

export const PRICE_DATA = z
  .object({ kind: KIND_DATA, prefix: z.string(), price: z.int().describe('price of a part') })
  .meta({ id: 'SmsPrice' });
