/**
 * Turns a request to send into texts and numbers under the settings of its app, or returns why it is refused: checks ⑧
 * and ⑨, the content before the numbers. Pure. docs/decisions/0210
 */
import type { AskedRequest } from '#db/tables/sms/accept.ts';
import { MAX_SMS_NUMBERS, MAX_SMS_UNITS } from '#model/limits.ts';
import type { SmsAppSettings } from '#model/sms-app.ts';
import { parseMsisdn } from './msisdn.ts';
import { decodeContent } from './text/decode-content.ts';
import { type InvalidText, type Split, splitText } from './text/split.ts';

export interface AskedMessage extends Pick<AskedRequest, 'kind' | 'smsType'> {
  /** Numbers as sent: one, or several with commas between them. */
  readonly mobile: string;
  /** Content as sent: percent-encoded. */
  readonly content: string;
}

export type Composed =
  | { readonly kind: 'message'; readonly parts: readonly string[]; readonly numbers: readonly string[] }
  | ComposeProblem;

export type ComposeProblem =
  | { readonly kind: 'contentInvalid'; readonly reason: ContentProblem }
  | { readonly kind: 'smsTypeInvalid'; readonly found: number }
  | { readonly kind: 'tooManyNumbers'; readonly count: number }
  | { readonly kind: 'numberInvalid'; readonly entry: string; readonly reason: 'form' | 'unassigned' };

type ContentProblem = InvalidText | 'malformed' | 'tooLongWithSuffix';

/** A UTF-16 unit is at most three bytes of UTF-8, each three characters of `%xx`. Longer content is not decoded. */
const MAX_ENCODED_LENGTH = MAX_SMS_UNITS * 9;

export function composeMessage(asked: AskedMessage, settings: SmsAppSettings): Composed {
  const split = splitContent(asked, settings);
  if (split.kind === 'invalid') return { kind: 'contentInvalid', reason: split.reason };
  if (asked.smsType !== 1 && asked.smsType !== 2) return { kind: 'smsTypeInvalid', found: asked.smsType };

  const count = countNumbers(asked.mobile);
  if (asked.kind === 'advertising' && count > MAX_SMS_NUMBERS) return { kind: 'tooManyNumbers', count };
  const entries = asked.kind === 'ordinary' ? [asked.mobile] : asked.mobile.split(',').map(trimBlanks);
  const numbers: string[] = [];
  for (const entry of entries) {
    const number = parseMsisdn(entry, settings);
    if (number.kind === 'invalid') return { kind: 'numberInvalid', entry, reason: number.reason };
    numbers.push(number.e164);
  }
  return { kind: 'message', parts: split.parts, numbers: numbers.length === 1 ? numbers : [...new Set(numbers)] };
}

/** Splits the content as it was sent; advertising with the suffix of its app. */
export function splitContent(
  { kind, content }: Pick<AskedMessage, 'kind' | 'content'>,
  { suffix }: Pick<SmsAppSettings, 'suffix'>,
): Split | { readonly kind: 'invalid'; readonly reason: ContentProblem } {
  if (content.length > MAX_ENCODED_LENGTH) return { kind: 'invalid', reason: 'tooLong' };
  const decoded = decodeContent(content);
  if (decoded === undefined) return { kind: 'invalid', reason: 'malformed' };
  return splitExtended(decoded, kind === 'advertising' ? suffix : '');
}

/** Checks the text before the suffix is added: a suffix alone is not a message. */
function splitExtended(text: string, suffix: string) {
  const own = splitText(text);
  if (own.kind === 'invalid' || suffix === '') return own;
  const whole = splitText(text + suffix);
  return whole.kind === 'invalid' ? { kind: whole.kind, reason: 'tooLongWithSuffix' as const } : whole;
}

/** Counts entries without checking them: the text may be as long as a body. */
export function countNumbers(mobile: string): number {
  let count = 1;
  for (let at = mobile.indexOf(','); at !== -1; at = mobile.indexOf(',', at + 1)) count += 1;
  return count;
}

function trimBlanks(text: string): string {
  return text.replace(/^ +| +$/g, '');
}
