/** Why a message is not accepted, as rows of the error table. Pure. docs/decisions/0210 */

import { ServiceError } from '#contract/errors/service-error.ts';
import { describeCount, describeFound, quote } from '#contract/schema/found.ts';
import type { Localized } from '#contract/schema/locale.ts';
import { SMS_OPERATIONS } from '#contract/sms/sms-operations.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { AcceptorVerdict } from '#sms/acceptor.ts';
import { parseMsisdn } from '#sms/msisdn.ts';

type Refusal = Exclude<AcceptorVerdict, { kind: 'accepted' }>;

const CONTENT_REASONS: Readonly<Record<Extract<Refusal, { kind: 'contentInvalid' }>['reason'], Localized>> = {
  malformed: { 'zh-CN': '不是合法的 URL 编码或 UTF-8', en: 'is not well-formed URL encoding of UTF-8' },
  empty: { 'zh-CN': '为空', en: 'is empty' },
  tooLong: { 'zh-CN': '过长', en: 'is too long' },
  tooLongWithSuffix: { 'zh-CN': '加上短信服务的后缀后过长', en: 'is too long with the suffix of the SMS service' },
  unpaired: { 'zh-CN': '含有不成对的代理码', en: 'contains an unpaired surrogate' },
  nul: { 'zh-CN': '含有空字符（NUL）', en: 'contains NUL' },
};

const NUMBER_REASONS: Readonly<Record<'form' | 'several' | 'unassigned', Localized>> = {
  form: { 'zh-CN': '不符合手机号的格式', en: 'is not in the form of a mobile number' },
  several: { 'zh-CN': '不止一个号码', en: 'is more than one number' },
  unassigned: { 'zh-CN': '不是已分配的号码', en: 'is not an assigned number' },
};

export function toSmsRefusal(verdict: Refusal, appKey: string): ServiceError {
  switch (verdict.kind) {
    case 'appUnknown':
      return smsAppNotFound(appKey);
    case 'appDisabled':
      return new ServiceError('smsAppDisabled');
    case 'contentInvalid':
      return new ServiceError('smsContentInvalid', { reason: CONTENT_REASONS[verdict.reason] });
    case 'smsTypeInvalid': {
      const { expects: expected } = SMS_OPERATIONS['sms.ordinary'].request.fields.smsType;
      return new ServiceError('fieldInvalid', { field: 'smsType', expected, found: String(verdict.found) });
    }
    case 'tooManyNumbers': {
      const { expects: expected } = SMS_OPERATIONS['sms.advertising'].request.fields.mobile;
      return new ServiceError('fieldInvalid', { field: 'mobile', expected, found: describeCount(verdict.count) });
    }
    case 'numberInvalid':
      return mobileInvalid(verdict.entry, verdict.reason);
    case 'balanceTooLow':
      return new ServiceError('balanceTooLow', { price: verdict.price });
    case 'queueFull':
      return new ServiceError('smsQueueFull');
    default:
      return unreachable(verdict);
  }
}

export function smsAppNotFound(appKey: string): ServiceError {
  return new ServiceError('smsAppNotFound', { found: describeFound(appKey) });
}

/** Numbers of a list as E.164, each once. Throws `ServiceError`. */
export function readNumbers(entries: readonly string[]): readonly string[] {
  const numbers = entries.map((entry) => {
    const number = parseMsisdn(entry, { bareInternational: false });
    if (number.kind === 'invalid') throw mobileInvalid(entry, number.reason);
    return number.e164;
  });
  return [...new Set(numbers)];
}

/** Check ③: both ends of the window are inside. Throws `ServiceError`. */
export function refuseWrongTime(time: unknown, now: number, windowMs: number): void {
  const digits = String(time);
  const isInside = /^\d{13}$/.test(digits) && Math.abs(Number(digits) - now) <= windowMs;
  if (!isInside) throw new ServiceError('timestampInvalid', { seconds: windowMs / 1000 });
}

function mobileInvalid(entry: string, reason: 'form' | 'unassigned'): ServiceError {
  const told = entry.includes(',') ? 'several' : reason;
  return new ServiceError('mobileInvalid', { entry: quote(entry), reason: NUMBER_REASONS[told] });
}
