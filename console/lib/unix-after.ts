/** Unix seconds, so many seconds after `now`, which is in milliseconds. */
export function unixAfter(seconds: number, now: number): number {
  return Math.floor(now / 1000) + seconds;
}
