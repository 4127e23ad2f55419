/** Wall-clock time of one zone, cheap enough for every request: the offset is looked up once per quarter of an hour. */

export interface LocalTime {
  /** `2025-01-31T23:59:59.123+08:00`; `at` is a whole number of milliseconds. */
  format(at: number): string;
  /** A number that changes exactly when the zone's clock reaches a full hour, midnight included. */
  hourOf(at: number): number;
}

/** Throws a RangeError for a zone that the runtime does not know. `timeZone` is an IANA name, as `Asia/Shanghai`. */
export function createLocalTime(timeZone: string): LocalTime {
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  let slot = Number.NaN;
  let second = Number.NaN;
  let prefix = '';
  let offset = { ms: 0, text: '+00:00' };
  const offsetAt = (at: number) => {
    const wanted = Math.floor(at / SLOT_MS);
    if (wanted !== slot) {
      offset = readOffset(formatter, wanted * SLOT_MS);
      slot = wanted;
    }
    return offset;
  };
  return {
    format(at) {
      const wanted = Math.floor(at / 1000);
      const { ms, text } = offsetAt(at);
      if (wanted !== second) {
        prefix = new Date(wanted * 1000 + ms).toISOString().slice(0, -4);
        second = wanted;
      }
      return `${prefix}${String(at - wanted * 1000).padStart(3, '0')}${text}`;
    },
    hourOf(at) {
      return Math.floor((at + offsetAt(at).ms) / HOUR_MS);
    },
  };
}

/** The first second of a day, as epoch seconds; `date` is as 2027-01-31. Gives `undefined` for a day that there is not. */
export function firstSecondOf(date: string, timeZone: string): number | undefined {
  return secondOf(date, 0, timeZone);
}

/** The last second of a day, likewise. */
export function lastSecondOf(date: string, timeZone: string): number | undefined {
  return secondOf(date, 24 * HOUR_MS - 1000, timeZone);
}

/** `clockMs`: what the zone's clock shows then, from midnight. */
function secondOf(date: string, clockMs: number, timeZone: string): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date) ?? [];
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return undefined;
  const shown = midnight + clockMs;
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  // The offset there is at that moment; the first guess may lie on the other side of a change.
  const guess = shown - readOffset(formatter, shown).ms;
  return (shown - readOffset(formatter, guess).ms) / 1000;
}

/** Every zone's offset, and every change of one, is a multiple of this. */
const SLOT_MS = 15 * 60_000;
const HOUR_MS = 3_600_000;

function readOffset(formatter: Intl.DateTimeFormat, at: number): { readonly ms: number; readonly text: string } {
  const part = formatter.formatToParts(at).find(({ type }) => type === 'timeZoneName');
  // `GMT`, `GMT+08:00` or `GMT-03:30`
  const [, sign = '+', hours = '00', minutes = '00'] = /^GMT([+-])(\d\d):(\d\d)/.exec(part?.value ?? '') ?? [];
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return { ms: sign === '-' ? -ms : ms, text: `${sign}${hours}:${minutes}` };
}
