/** Dates of the tests: integers are seconds from the origin's now. */
const DATE_FIELDS: ReadonlySet<string> = new Set([
  'date',
  'expires',
  'last-modified',
  'if-modified-since',
  'if-unmodified-since',
]);
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** The value as it goes over the wire. `rfc850`: fields that are to have the old format. */
export function dateValue(
  name: string,
  value: string | number,
  now: number,
  rfc850: readonly string[] | undefined,
): string {
  const field = name.toLowerCase();
  if (typeof value === 'string' || !DATE_FIELDS.has(field)) return String(value);
  const date = new Date(now + value * 1000);
  const text = date.toUTCString();
  if (rfc850?.includes(field) !== true) return text;
  const [, day = '', month = '', , time = ''] = text.split(' ');
  return `${DAYS[date.getUTCDay()]}, ${day}-${month}-${String(date.getUTCFullYear()).slice(2)} ${time} GMT`;
}
