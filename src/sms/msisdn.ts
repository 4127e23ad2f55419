/** Parses phone numbers as people write them into E.164, the form in which they are stored. docs/decisions/0202 */
import { isValidPhoneNumber } from 'libphonenumber-js/max';
import { flatText } from '#lib/flat-text.ts';

export type Msisdn =
  | { readonly kind: 'number'; readonly e164: string }
  | { readonly kind: 'invalid'; readonly reason: 'form' | 'unassigned' };

/** Mobile numbers of mainland China by form alone: published tables of prefixes lag behind what carriers assign. */
const MAINLAND = /^(?:\+86|0086|86)?(1[3-9]\d{9})$/;
const INTERNATIONAL = /^(?:\+|00)([1-9]\d{6,14})$/;
const BARE = /^([1-9]\d{6,14})$/;

/** `bareInternational`: `85261234567` is taken as `+85261234567`. */
export function parseMsisdn(text: string, { bareInternational }: { readonly bareInternational: boolean }): Msisdn {
  const mainland = MAINLAND.exec(text)?.[1];
  if (mainland !== undefined) return { kind: 'number', e164: flatText('+86', mainland) };
  const digits = (INTERNATIONAL.exec(text) ?? (bareInternational ? BARE.exec(text) : null))?.[1];
  // Mainland numbers that are not mobile are refused.
  if (digits === undefined || digits.startsWith('86')) return { kind: 'invalid', reason: 'form' };
  const e164 = flatText('+', digits);
  return isValidPhoneNumber(e164) ? { kind: 'number', e164 } : { kind: 'invalid', reason: 'unassigned' };
}

/** Returns the number in E.164. Carriers omit the `+`, and for domestic numbers the country code too. */
export function carrierNumber(address: string): string | undefined {
  const number = parseMsisdn(address, { bareInternational: true });
  return number.kind === 'number' ? number.e164 : undefined;
}
