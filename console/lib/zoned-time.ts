/** Times of the day in a zone, as `<input type="datetime-local">` has them: `2026-01-31T12:00`. Pure. */

/** Drops seconds. */
export function writeLocal(at: number, zone: string): string {
  return new Date(at + offsetMs(at, zone)).toISOString().slice(0, 16);
}

/** Unix milliseconds, or `undefined` for no time. What a clock change leaves out is moved on, what it repeats is the first. */
export function readLocal(text: string, zone: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text)) return undefined;
  const wall = Date.parse(`${text.slice(0, 16)}:00Z`);
  if (Number.isNaN(wall)) return undefined;
  // The offset before and after any change of a clock nearby; one of them is that of the time itself.
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((near) => offsetMs(near, zone));
  const found = offsets.map((offset) => wall - offset).filter((at) => at + offsetMs(at, zone) === wall);
  return found.length > 0 ? Math.min(...found) : wall - (offsets[0] ?? 0);
}

const DAY_MS = 86_400_000;

function offsetMs(at: number, zone: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000;
}
