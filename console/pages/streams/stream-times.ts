/** Times of broadcasts and recordings. Pure. */

/** Days that the service keeps broadcasts, and the most that it keeps recordings. */
export const BROADCAST_DAYS = 90;
export const RECORDING_DAYS = 3650;

const DAY_SECONDS = 86_400;

/** Unix seconds at which whatever is kept for `days` begins at the earliest, the same for a day. `now`: Unix milliseconds. */
export function keptSince(days: number, now: number): number {
  return (Math.floor(now / (DAY_SECONDS * 1000)) - days) * DAY_SECONDS;
}

/** Hours, minutes and seconds, the same in both languages: `1:02:03`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? rest : `${Math.floor(seconds / 3600)}:${rest}`;
}
