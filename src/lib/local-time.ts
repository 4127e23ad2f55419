/** Wall-clock time of one zone, cheap enough for every request: the offset is looked up once per 15 minutes. */
import { DAY_MS, HOUR_MS } from './durations.ts';

export interface LocalTime {
  /** Formats an instant as `2025-01-31T23:59:59.123+08:00`; `at` is in whole milliseconds. */
  format(at: number): string;
  /**
   * Returns when the zone's clock last reached a full hour or was changed, in epoch milliseconds, at most an hour
   * before `at`. The repeated hour in autumn thus has two starts.
   */
  hourStartOf(at: number): number;
}

/**
 * Creates the clock of a zone, an IANA name such as `Asia/Shanghai`. Throws a `RangeError` if the runtime does not know
 * it.
 */
export function createLocalTime(timeZone: string): LocalTime {
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  let slot = Number.NaN;
  let second = Number.NaN;
  let prefix = '';
  let offset = { ms: 0, text: '+00:00' };
  let hour = { slot: Number.NaN, start: 0 };
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
    hourStartOf(at) {
      const wanted = Math.floor(at / SLOT_MS);
      if (wanted !== hour.slot) hour = { slot: wanted, start: readHourStart(formatter, wanted * SLOT_MS) };
      return hour.start;
    },
  };
}

/** Returns the first second of a day, such as `2027-01-31`, in epoch seconds; `undefined` if there is no such date. */
export function firstSecondOf(date: string, timeZone: string): number | undefined {
  const midnight = readDate(date);
  return midnight === undefined ? undefined : firstInstantOf(midnight, timeZone) / 1000;
}

/**
 * Returns the instant at which the zone's clock shows `text`, such as `2027-01-31 23:59:59`, in epoch milliseconds: the
 * first of two in the repeated hour in autumn. `undefined` if the text is not a time.
 */
export function instantOf(text: string, timeZone: string): number | undefined {
  const [, date, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/.exec(text) ?? [];
  const shown = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(shown)) return undefined;
  const sinceSlot = shown % SLOT_MS;
  return firstInstantOf(shown - sinceSlot, timeZone) + sinceSlot;
}

/** Returns the last second of a day in epoch seconds; `undefined` if there is no such date. */
export function lastSecondOf(date: string, timeZone: string): number | undefined {
  const midnight = readDate(date);
  return midnight === undefined ? undefined : firstInstantOf(midnight + DAY_MS, timeZone) / 1000 - 1;
}

/** Returns midnight of the date as if in UTC; `undefined` if there is no such date. */
function readDate(date: string): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date) ?? [];
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date) ? midnight : undefined;
}

/**
 * Returns the first instant at which the zone's clock shows `shown` (as if in UTC, the start of a slot) or, if that is
 * skipped, a later time. Searches by slots, within which no offset changes.
 */
function firstInstantOf(shown: number, timeZone: string): number {
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  let before = shown - MAX_OFFSET_MS;
  let reached = shown + MAX_OFFSET_MS;
  while (reached - before > SLOT_MS) {
    const middle = before + Math.floor((reached - before) / SLOT_MS / 2) * SLOT_MS;
    if (middle + readOffset(formatter, middle).ms < shown) before = middle;
    else reached = middle;
  }
  return reached;
}

/** Every zone's offset, and every change of one, is a multiple of this. */
const SLOT_MS = 15 * 60_000;
/** Larger than any offset from UTC: they lie between -12 and +14 hours. */
const MAX_OFFSET_MS = 15 * HOUR_MS;

/**
 * Start of the local hour, or of the offset, that contains the slot at `at`: both begin with a slot.
 */
function readHourStart(formatter: Intl.DateTimeFormat, at: number): number {
  const { ms } = readOffset(formatter, at);
  let start = at;
  while ((start + ms) % HOUR_MS !== 0 && readOffset(formatter, start - SLOT_MS).ms === ms) start -= SLOT_MS;
  return start;
}

function readOffset(formatter: Intl.DateTimeFormat, at: number): { readonly ms: number; readonly text: string } {
  const part = formatter.formatToParts(at).find(({ type }) => type === 'timeZoneName');
  // `GMT`, `GMT+08:00` or `GMT-03:30`
  const [, sign = '+', hours = '00', minutes = '00'] = /^GMT([+-])(\d\d):(\d\d)/.exec(part?.value ?? '') ?? [];
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return { ms: sign === '-' ? -ms : ms, text: `${sign}${hours}:${minutes}` };
}
