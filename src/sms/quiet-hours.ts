/**
 * When advertising that is accepted now may be sent: at once, or when the permitted hours of its app begin. Pure.
 * docs/decisions/0213
 */
import { MINUTE_MS } from '#lib/durations.ts';
import type { LocalTime } from '#lib/local-time.ts';

/** Minutes since midnight, `from` included and `to` excluded; the hours span midnight if `from` is later. */
export interface OpenHours {
  readonly from: number;
  readonly to: number;
}

const DAY_MINUTES = 24 * 60;
/** Clocks change only at the beginning of a quarter of an hour. */
const QUARTER_MINUTES = 15;
/** A clock shows every minute at least once in two days, however it is changed. */
const MAX_QUARTERS = (2 * DAY_MINUTES) / QUARTER_MINUTES + 1;

/** Returns the instant of release, not before `now`. `local`: the clock of the hours' time zone. */
export function releaseAt(now: number, hours: OpenHours, local: LocalTime): number {
  const minute = minuteOf(now, local);
  if (isOpen(minute, hours)) return now;
  const begin = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const at = begin + minutesUntil(hours.from, minute) * MINUTE_MS;
  return offsetOf(at, local) === offsetOf(now, local) ? at : searchRelease(begin, hours, local);
}

/** Does the same if the clock changes in between: hours may begin twice, or the change may skip their beginning. */
function searchRelease(begin: number, hours: OpenHours, local: LocalTime): number {
  const quarterMs = QUARTER_MINUTES * MINUTE_MS;
  let at = begin;
  for (let quarters = 0; quarters < MAX_QUARTERS; quarters += 1) {
    const minute = minuteOf(at, local);
    if (isOpen(minute, hours)) return at;
    const next = (Math.floor(at / quarterMs) + 1) * quarterMs;
    const opensAt = at + minutesUntil(hours.from, minute) * MINUTE_MS;
    if (opensAt < next) return opensAt;
    at = next;
  }
  return at;
}

/** Returns the minutes from `minute` to `wanted`, both of the day, if no clock changes in between. */
function minutesUntil(wanted: number, minute: number): number {
  return (wanted - minute + DAY_MINUTES) % DAY_MINUTES;
}

function isOpen(minute: number, { from, to }: OpenHours): boolean {
  return from < to ? from <= minute && minute < to : minute >= from || minute < to;
}

function minuteOf(at: number, local: LocalTime): number {
  const [, hours = '', minutes = ''] = /T(\d\d):(\d\d)/.exec(local.format(Math.floor(at))) ?? [];
  return Number(hours) * 60 + Number(minutes);
}

function offsetOf(at: number, local: LocalTime): string {
  return local.format(Math.floor(at)).slice(-6);
}
