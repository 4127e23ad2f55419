/** The time that a call asks about. Pure. */
import { ServiceError } from '#contract/errors/service-error.ts';

/** Epoch milliseconds, both inclusive. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export interface AskedRange {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/**
 * Range of a query. A missing end is now; a missing beginning is `defaultMs` before the end. Throws `ServiceError` if
 * it ends before it begins.
 */
export function timeRange({ from, to }: AskedRange, now: number, defaultMs: number): TimeRange {
  const end = to ?? now;
  const begin = from ?? end - defaultMs;
  if (begin > end) throw new ServiceError('timeRangeReversed');
  return { from: begin, to: end };
}
