/** The only place that reads the time. Everything else is handed a `Clock` or a `now`. */

/** Gives the present instant in epoch milliseconds. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
