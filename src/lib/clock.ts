/** The only place that reads the time. Everything else is handed a `Clock` or a `now`. */

/** Gives the present instant in epoch milliseconds, unless it is said to count from elsewhere. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Milliseconds since some instant of this process; never goes back, whoever sets the system's clock. */
export const steadyClock: Clock = () => performance.now();
