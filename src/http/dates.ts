/**
 * HTTP dates: parses the three formats that recipients must accept, and formats the one that senders use. RFC 9110
 * §5.6.7
 */

/**
 * Parses an HTTP date to epoch milliseconds; `undefined` if the text is not one. Letters match in either case,
 * everything else exactly: no other zone or spacing, no day beyond the month's end. `now` resolves two-digit years.
 */
export function parseDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (text.length === IMF_LENGTH) return parseImfFixdate(text);
  const rfc850 = RFC850_DATE.exec(text);
  if (rfc850 !== null) {
    const year = String(fullYear(Number(rfc850[3]), now));
    return instantOf(year, rfc850[2], rfc850[1], rfc850[4], rfc850[5], rfc850[6]);
  }
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime !== null) return instantOf(asctime[6], asctime[1], asctime[2], asctime[3], asctime[4], asctime[5]);
  return undefined;
}

/** Formats an instant as IMF-fixdate, truncated to whole seconds. Years 0 to 9999. */
export function formatDate(at: number): string {
  return new Date(at).toUTCString();
}

/** Length of an IMF-fixdate. No date of the other two formats has it. */
const IMF_LENGTH = 29;
const RFC850_DATE = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) gmt$/i;
const ASCTIME_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun) ([a-z]{3}) (\d\d| \d) (\d\d):(\d\d):(\d\d) (\d{4})$/i;

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Parses the usual format character by character: a regular expression takes three times as long. `text` has
 * `IMF_LENGTH` characters.
 */
function parseImfFixdate(text: string): number | undefined {
  for (let i = 0; i < IMF_MARKS.length; i++) {
    const at = IMF_MARKS[i] ?? 0;
    if (text.charCodeAt(at) !== IMF_EXAMPLE.charCodeAt(at)) return undefined;
  }
  const month = MONTH_WORDS.indexOf(wordAt(text, 8));
  if (!DAY_WORDS.includes(wordAt(text, 0)) || wordAt(text, 26) !== GMT) return undefined;
  const year = twoDigits(text, 12) * 100 + twoDigits(text, 14);
  return toInstant(year, month, twoDigits(text, 5), twoDigits(text, 17), twoDigits(text, 20), twoDigits(text, 23));
}

/** Three characters from `at` as one number, letters in lower case. */
function wordAt(text: string, at: number): number {
  return (letterAt(text, at) << 16) | (letterAt(text, at + 1) << 8) | letterAt(text, at + 2);
}

function letterAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 0x80 ? code | 0x20 : 0; // sets the bit of lower-case letters
}

/** Returns `NaN` if a character is not a digit. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

const ZERO = 0x30;
const DAY_WORDS = DAYS.map((day) => wordAt(day, 0));
const MONTH_WORDS = MONTHS.map((month) => wordAt(month, 0));
const GMT = wordAt('gmt', 0);
const IMF_EXAMPLE = 'Sun, 06 Nov 1994 08:49:37 GMT';
/** Offsets of the characters other than letters and digits. */
const IMF_MARKS = [3, 4, 7, 11, 16, 19, 22, 25];

/** Resolves a two-digit year: one that seems more than 50 years ahead is in the past century. */
function fullYear(twoDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

type Text = string | undefined;

function instantOf(year: Text, month: Text, day: Text, hour: Text, minute: Text, second: Text): number | undefined {
  const m = MONTHS.indexOf(month?.toLowerCase() ?? '');
  return toInstant(Number(year), m, Number(day), Number(hour), Number(minute), Number(second));
}

/** Returns `undefined` if a part is out of range or `NaN`. `month`: from 0; -1 is invalid. */
function toInstant(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  // A leap second is 60.
  const isTime = year >= 0 && hour <= 23 && minute <= 59 && second <= 60;
  if (!isTime || !(day >= 1 && day <= daysOf(year, month))) return undefined;
  // `Date.UTC` maps the years 0 to 99 to 1900 to 1999; the calendar repeats after 400 years.
  return Date.UTC(year + 400, month, day, hour, minute, second) - MS_IN_400_YEARS;
}

/** Number of days of a month in the Gregorian calendar; 0 for month -1. */
function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 1 && isLeap ? 29 : (MONTH_DAYS[month] ?? 0);
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MS_IN_400_YEARS = 146_097 * 24 * 3600 * 1000;
