/** HTTP dates: the three formats a recipient has to accept, and the one a sender writes. RFC 9110 §5.6.7 */

/**
 * Epoch milliseconds, or `undefined` when the text is not an HTTP date. Letters match in either case, everything else
 * exactly: no other zone, no other spacing, no day that the month does not have. `now` places two-digit years.
 */
export function parseDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const imf = IMF_FIXDATE.exec(text);
  if (imf !== null) return toInstant(imf[3], imf[2], imf[1], imf[4], imf[5], imf[6]);
  const rfc850 = RFC850_DATE.exec(text);
  if (rfc850 !== null) {
    const year = String(fullYear(Number(rfc850[3]), now));
    return toInstant(year, rfc850[2], rfc850[1], rfc850[4], rfc850[5], rfc850[6]);
  }
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime !== null) return toInstant(asctime[6], asctime[1], asctime[2], asctime[3], asctime[4], asctime[5]);
  return undefined;
}

/** IMF-fixdate, whole seconds (the rest is cut off), years 0 to 9999. */
export function formatDate(at: number): string {
  return new Date(at).toUTCString();
}

const IMF_FIXDATE = /^(?:mon|tue|wed|thu|fri|sat|sun), (\d\d) ([a-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) gmt$/i;
const RFC850_DATE = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) gmt$/i;
const ASCTIME_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun) ([a-z]{3}) (\d\d| \d) (\d\d):(\d\d):(\d\d) (\d{4})$/i;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Two digits that seem more than 50 years ahead are the most recent past year with these digits. */
function fullYear(twoDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

type Text = string | undefined;

function toInstant(year: Text, month: Text, day: Text, hour: Text, minute: Text, second: Text): number | undefined {
  const y = Number(year);
  const m = MONTHS.indexOf(month?.toLowerCase() ?? '');
  const d = Number(day);
  const [h, min, s] = [Number(hour), Number(minute), Number(second)];
  // 60 is a leap second.
  if (m === -1 || h > 23 || min > 59 || s > 60) return undefined;
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(y, m, d);
  if (date.getUTCMonth() !== m || date.getUTCDate() !== d) return undefined;
  return date.setUTCHours(h, min, s);
}
