/** Durations in milliseconds. A calendar day may be an hour shorter or longer: see `local-time.ts`. */
export const MINUTE_MS = 60_000;
export const FIVE_MINUTES_MS = 5 * MINUTE_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
