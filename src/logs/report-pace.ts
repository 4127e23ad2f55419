/** How often edges are asked to report: less often while control takes long to add their reports. Pure. docs/decisions/0740 */

export interface ReportPace {
  /** The interval is that of the settings, times this. */
  readonly factor: number;
  readonly changedAt: number;
  /** When a report last waited for long; `undefined`: never. */
  readonly slowAt: number | undefined;
}

export const FULL_PACE: ReportPace = { factor: 1, changedAt: Number.NEGATIVE_INFINITY, slowAt: undefined };

/** A wait from which on edges are slowed down. */
const LONG_WAIT_MS = 10_000;
export const MAX_FACTOR = 4;
/** Time that a change takes to show: every edge has reported twice by then. */
const SETTLE_MS = 180_000;
/** Time without a long wait after which edges may report more often again. */
const RECOVER_MS = 600_000;

/** `waitedMs`: how long the report that was just added had waited. `now`: monotonic milliseconds. */
export function nextPace(pace: ReportPace, waitedMs: number, now: number): ReportPace {
  const { factor, changedAt } = pace;
  const slowAt = waitedMs > LONG_WAIT_MS ? now : pace.slowAt;
  const isSettled = now - changedAt >= SETTLE_MS;
  if (waitedMs > LONG_WAIT_MS && factor < MAX_FACTOR && isSettled)
    return { factor: factor * 2, changedAt: now, slowAt };
  const isQuiet = slowAt === undefined || now - slowAt >= RECOVER_MS;
  if (factor > 1 && isQuiet && now - changedAt >= RECOVER_MS) return { factor: factor / 2, changedAt: now, slowAt };
  return { factor, changedAt, slowAt };
}
