/** Parses the instants in receipts, whose form and time zone depend on the carrier. */

/**
 * Returns `undefined` if the text is in none of the known forms. `zoneMinutes`: offset of the carrier's clock from UTC.
 */
export function readReceiptDate(text: string, zoneMinutes: number): number | undefined {
  const digits = text.replace(/[-/: T]/g, '');
  const match = FORMS.map((form) => form.exec(digits)).find((found) => found !== null);
  if (match === undefined) return undefined;
  const [year = '', month, day, hour, minute, second] = match.slice(1);
  const fullYear = Number(year) + (year.length === 2 ? 2000 : 0);
  const at = Date.UTC(fullYear, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second ?? 0));
  // Date.UTC carries days and hours that do not exist over to the next month or day.
  const isReal = new Date(at).toISOString().startsWith(`${fullYear}-${month}-${day}T${hour}:${minute}`);
  return isReal ? at - zoneMinutes * 60_000 : undefined;
}

/** Four-digit years come first: a two-digit year of 20 has passed. */
const FORMS: readonly RegExp[] = [
  /^(20\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/,
  /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/,
];
