/** The time between two events of a time line. Pure. */
import type { Locale } from '#contract/schema/locale.ts';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
  ['millisecond', 1],
] as const;

/** Writes the largest unit of which there is at least one, with a decimal below ten: 1.5 seconds, 12 minutes. */
export function formatGap(ms: number, locale: Locale): string {
  const [unit, size] = UNITS.find(([, unitMs]) => ms >= unitMs) ?? (['millisecond', 1] as const);
  const value = ms / size;
  const digits = value < 10 && unit !== 'millisecond' ? 1 : 0;
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: digits,
  }).format(value);
}
