/** The bandwidth of a month by which traffic is billed: its 95th percentile. Pure. docs/decisions/0742 */
import { DAY_MS, FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import type { Days } from './day.ts';
import { MAX_FACTOR } from './report-pace.ts';

/** Days for which samples are kept: of domains, at least this month and the last one. */
export const BANDWIDTH_DAYS = { domains: 70, accounts: 400 } as const;

/** One in so many samples is dropped, the highest first: five percent. */
const ONE_DROPPED_IN = 20;

/** The samples of a month, one for each five minutes. */
export interface BandwidthMonth {
  /** `YYYY-MM` in the service's time zone. */
  readonly month: string;
  /** Beginning and end, exclusive, in epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Number of samples that are over; all of the month's if it is complete. */
  readonly samples: number;
  readonly isComplete: boolean;
}

/** Returns the month of `at`, such as `2026-11`. */
export function monthOf(at: number, days: Days): string {
  return days.dayOf(at).slice(0, 7);
}

/** Returns how long after traffic its report has come, also of an edge that was asked to report less often. */
export function reportedMs(statSeconds: number): number {
  return Math.max(2 * MINUTE_MS, MAX_FACTOR * statSeconds * 1000 + MINUTE_MS);
}

/** `month` has begun. `completeUntil`: instant up to which edges have reported. */
export function monthSamples(month: string, completeUntil: number, days: Days): BandwidthMonth {
  const from = days.startOf(`${month}-01`);
  const to = days.startOf(`${nextMonth(month)}-01`);
  const until = Math.max(from, Math.min(to, completeUntil));
  const samples = Math.floor((until - from) / FIVE_MINUTES_MS);
  return { month, from, to, samples, isComplete: until === to };
}

/** A day on which clocks are set back. */
const LONGEST_DAY_MS = DAY_MS + HOUR_MS;

/**
 * Whether samples were counted as early as other sums, whose beginnings are compared: before the update that brought
 * them there was traffic without any.
 */
export function isCountedWhole({ five, hour, day }: Readonly<Record<'five' | 'hour' | 'day', number>>): boolean {
  return five < hour + HOUR_MS && five < day + LONGEST_DAY_MS;
}

/** Returns how many of the highest samples are dropped. */
export function droppedOf(samples: number): number {
  return Math.floor(samples / ONE_DROPPED_IN);
}

/** Returns the mean of a sample in bits per second. */
export function sampleRate(bytes: number): number {
  return Math.round((bytes * 8) / (FIVE_MINUTES_MS / 1000));
}

export function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`;
}
