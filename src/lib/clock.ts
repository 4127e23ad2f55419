/** The only place that reads the clock. Everything else receives a `Clock` or a `now`. */

/** Returns the current instant, in epoch milliseconds unless documented otherwise. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Both clocks of a machine; `steady` is monotonic. */
export interface MachineClocks {
  readonly wall: Clock;
  readonly steady: Clock;
}

/** Monotonic clock: milliseconds since some instant of this process. */
export const steadyClock: Clock = () => performance.now();
