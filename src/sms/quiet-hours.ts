/** When advertising that is accepted now may go out: at once, or when the hours of its app begin. Pure. docs/decisions/0213 */
import type { LocalTime } from '#lib/local-time.ts';

/** Minutes since midnight: from the one up to the other, past midnight when the first is later. */
export interface OpenHours {
  readonly from: number;
  readonly to: number;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** A clock that is put forward or back at the wrong moment takes a second look. */
const MAX_LOOKS = 3;

/** Never before `now`. `local`: the clock of the hours' time zone. */
export function releaseAt(now: number, hours: OpenHours, local: LocalTime): number {
  if (isOpen(minuteOf(now, local), hours)) return now;
  let at = now;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    at = nextTime(at, hours.from, local);
    if (isOpen(minuteOf(at, local), hours)) break;
  }
  // Where the clock was put forward the hours have begun earlier than one counted.
  for (const earlier of [at - 60 * MINUTE_MS, at - 30 * MINUTE_MS])
    if (earlier > now && isOpen(minuteOf(earlier, local), hours)) return earlier;
  return at;
}

/** The beginning of the next minute that would be `minute` if no clock were put forward or back until then. */
function nextTime(at: number, minute: number, local: LocalTime): number {
  const begin = Math.floor(at / MINUTE_MS) * MINUTE_MS;
  const ahead = (minute - minuteOf(begin, local) + DAY_MINUTES) % DAY_MINUTES;
  return begin + (ahead === 0 ? DAY_MINUTES : ahead) * MINUTE_MS;
}

function isOpen(minute: number, { from, to }: OpenHours): boolean {
  return from < to ? from <= minute && minute < to : minute >= from || minute < to;
}

function minuteOf(at: number, local: LocalTime): number {
  const [, hours = '', minutes = ''] = /T(\d\d):(\d\d)/.exec(local.format(Math.floor(at))) ?? [];
  return Number(hours) * 60 + Number(minutes);
}
