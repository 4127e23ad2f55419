/** The time that a call asks about. Pure. */
import { ServiceError } from '#contract/service-error.ts';

/** Epoch milliseconds, both inclusive. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export interface AskedRange {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Without an end: until now; without a beginning: so long before the end. Throws `ServiceError` when it ends before it begins. */
export function timeRange({ from, to }: AskedRange, now: number, defaultMs: number): TimeRange {
  const end = to ?? now;
  const begin = from ?? end - defaultMs;
  if (begin > end) throw new ServiceError('timeRangeReversed');
  return { from: begin, to: end };
}
