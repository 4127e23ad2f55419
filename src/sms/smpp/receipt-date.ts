/** The instants that receipts write, each carrier in its own way and by its own clock. */

/** `undefined`: nobody can read it. `zoneMinutes`: how far that clock is ahead of UTC. */
export function readReceiptDate(text: string, zoneMinutes: number): number | undefined {
  const digits = text.replace(/[-/: T]/g, '');
  const match = FORMS.map((form) => form.exec(digits)).find((found) => found !== null);
  if (match === undefined) return undefined;
  const [year = '', month, day, hour, minute, second] = match.slice(1);
  const fullYear = Number(year) + (year.length === 2 ? 2000 : 0);
  const at = Date.UTC(fullYear, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second ?? 0));
  // Date.UTC goes on from the 31st of a month that has none, and from 24 o'clock.
  const isReal = new Date(at).toISOString().startsWith(`${fullYear}-${month}-${day}T${hour}:${minute}`);
  return isReal ? at - zoneMinutes * 60_000 : undefined;
}

/** A year of four digits first: in two digits, 20 is a year that has passed. */
const FORMS: readonly RegExp[] = [
  /^(20\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/,
  /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/,
];
