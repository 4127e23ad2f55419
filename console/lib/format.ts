/** Numbers and instants as texts, each by one function with language and zone given. */
import type { Locale } from '#contract/schema/locale.ts';

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface Place {
  readonly locale: Locale;
  /** IANA name of the zone. */
  readonly zone: string;
}

export function formatNumber(value: number, locale: Locale, digits = 0): string {
  return new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);
}

/** Large counts with three digits: 12.3K, 1.2万. */
export function formatShort(value: number, locale: Locale): string {
  if (value < 10_000) return formatNumber(value, locale, value < 10 ? 1 : 0);
  return new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 }).format(value);
}

/** Decimal units: 1 kB is 1000 bytes. */
export function formatBytes(bytes: number, locale: Locale): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return `${formatNumber(value, locale, power > 0 && value < 100 ? 1 : 0)} ${BYTE_UNITS[power]}`;
}

/** Bits in a second, in decimal units: 1 kbit/s is 1000 bits in a second. */
export function formatBitRate(bits: number, locale: Locale): string {
  const text = formatBytes(bits, locale);
  return `${text.slice(0, -1)}bit/s`;
}

/** `ratio` from 0 to 1. A ratio below 1 is never shown as 100 %. */
export function formatRatio(ratio: number, locale: Locale): string {
  const shown = ratio < 1 ? Math.min(ratio, 0.999) : 1;
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(shown);
}

/** `2026-01-31 12:00:00`, the same in both languages, as logs and the interface have it. */
export function formatTime(at: number, { zone }: Place): string {
  return new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    timeZone: zone,
  }).format(at);
}

export function formatClock(at: number, { zone }: Place): string {
  return formatTime(at, { locale: 'en', zone }).slice(11);
}

export function formatDay(at: number, { zone }: Place): string {
  return formatTime(at, { locale: 'en', zone }).slice(0, 10);
}

/** "3 minutes ago" below an hour; older instants are `undefined`: they are shown whole. */
export function formatAgo(at: number, now: number, locale: Locale): string | undefined {
  const age = now - at;
  if (age < 0 || age >= HOUR_MS) return undefined;
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always', style: 'short' });
  return age < MINUTE_MS
    ? relative.format(-Math.floor(age / 1000), 'second')
    : relative.format(-Math.floor(age / MINUTE_MS), 'minute');
}

/** A duration of so many seconds in its largest whole unit: 3600 is "1 hour". */
export function formatSeconds(seconds: number, locale: Locale): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size && seconds % size === 0) ?? (['second', 1] as const);
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size);
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;
