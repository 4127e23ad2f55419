/**
 * Zod schemas that parse the text of a setting. A schema's description says which values and ranges it accepts; error
 * messages and the documentation quote it.
 */
import { isIP } from 'node:net';
import * as z from 'zod';
import { plainNetwork } from './cidr.ts';
import { parseListenAddress } from './listen-address.ts';
import { postgresUrls } from './postgres-url.ts';

export type Reader<T> = z.ZodType<T, string>;

export function wholeNumber(min: number, max: number) {
  const digits = z.string().regex(/^\d{1,15}$/);
  return digits.transform(Number).pipe(z.number().min(min).max(max)).describe(`a whole number from ${min} to ${max}`);
}

const SIZE = /^(\d{1,12})\s*([kmg]b)?$/i;
const UNITS: Readonly<Record<string, number>> = { '': 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 };

/**
 * A size such as `256MB`, parsed to bytes; units are powers of 1024. `min` should be far above any number whose unit
 * was forgotten.
 */
export function byteSize(min: string, max: string) {
  return z
    .string()
    .regex(SIZE)
    .transform(bytesOf)
    .pipe(z.number().min(bytesOf(min)).max(bytesOf(max)))
    .describe(`a size from ${min} to ${max} (bytes, KB, MB or GB)`);
}

function bytesOf(text: string): number {
  const [, digits, unit = ''] = SIZE.exec(text) ?? [];
  return Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values).describe(values.join(' or '));
}

/** Values separated by commas, or an array in the settings file. Empty texts are dropped. */
export function listOf<T>(item: Reader<T>, min: number, max: number) {
  return z
    .string()
    .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
    .pipe(z.array(item).min(min).max(max))
    .describe(`${min} to ${max} separated by commas, each ${item.description}`);
}

export function listenAddress() {
  return mapped('host:port or [IPv6]:port; port 0 takes a free one', parseListenAddress);
}

/** Accepts `0` for none in addition to a range that excludes it. */
export function zeroOr(reader: Reader<number>) {
  return z.union([z.literal('0').transform(() => 0), reader]).describe(`0, or ${reader.description}`);
}

/** Accepts `off` for none. */
export function orOff<T>(reader: Reader<T>) {
  return z.union([z.literal('off'), reader]).describe(`${reader.description}, or off`);
}

/** Accepts `auto` for a value derived from the machine. */
export function autoOr<T>(reader: Reader<T>, automatic: T) {
  return z.union([z.literal('auto').transform(() => automatic), reader]).describe(`auto or ${reader.description}`);
}

/** Any text that `matches`. */
export function textThat(expected: string, matches: RegExp) {
  return z.string().regex(matches).describe(expected);
}

/** A text that passes `accepts`. */
function textWhere(expected: string, accepts: (text: string) => boolean) {
  return z.string().refine(accepts).describe(expected);
}

/** The result of `read`; `undefined` refuses the text. */
export function mapped<T>(expected: string, read: (text: string) => T | undefined): Reader<T> {
  const values = z.string().transform(read);
  // The refinement excludes undefined
  return values.refine((value) => value !== undefined).describe(expected) as Reader<T>;
}

export function path() {
  return textThat('a path', /^[^\0]+$/);
}

export function network() {
  return textWhere('an address or a network such as 10.0.0.0/8', (text) => plainNetwork(text) !== undefined);
}

/** A name server as Node takes it. */
export function nameServer() {
  return textWhere('an address, address:port or [IPv6]:port', (text) => {
    const [, bracketed, plain = text] = /^(?:\[(.+)\]|([^:]+)):\d{1,5}$/.exec(text) ?? [];
    return isIP(bracketed ?? plain) !== 0;
  });
}

export function timeZone() {
  return textWhere('a time zone such as Asia/Shanghai', isTimeZone);
}

export function postgresUrl() {
  return textWhere(
    'postgres://user:password@host:port/database, also with up to 16 hosts: host1:port,host2:port (special characters in it percent-encoded)',
    (text) => postgresUrls(text) !== undefined,
  );
}

/** The address of a server, without a path. */
export function serverUrl() {
  return urlThat('http:// or https:// and a host', /^https?:\/\/[^\s/@]+\/?$/);
}

/** A URL that also `matches`. */
export function urlThat(expected: string, matches: RegExp) {
  return textWhere(expected, (text) => matches.test(text) && URL.canParse(text));
}

/** A currency and its smallest unit, such as `CNY` or `CNY/1000`. */
export function currency() {
  return mapped('an ISO 4217 code such as CNY, or with the smallest units in one of it, such as CNY/1000', (text) => {
    const [, code, units] = /^([A-Z]{3})(?:\/(10{0,6}))?$/.exec(text) ?? [];
    if (code === undefined || !CURRENCIES.has(code)) return undefined;
    const { maximumFractionDigits = 0 } = new Intl.NumberFormat('en', {
      style: 'currency',
      currency: code,
    }).resolvedOptions();
    return { code, units: units === undefined ? 10 ** maximumFractionDigits : Number(units) };
  });
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false; // RangeError: no such time zone
  }
}
