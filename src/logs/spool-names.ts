/**
 * Names of spool files: `<name>-<time>-<number>` with `.log` for lines; the journal has `.stats` while lines are added,
 * and `.done` from then on. So one rename ends both at once. Pure.
 */

const STEM = /^(.+)-\d{8}T\d{9}Z-\d{4}$/;

export type SpoolEnding = '.log' | '.stats' | '.done';

export function isSpoolName(name: string): boolean {
  return /^[a-z0-9-]+$/.test(name);
}

/** Returns a stem; those of one spool sort by time. */
export function spoolStem(name: string, now: number, sequence: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:.]/g, '');
  return `${name}-${stamp}-${String(sequence % 10_000).padStart(4, '0')}`;
}

/** Returns the name of the spool that a stem belongs to. */
export function spoolOf(stem: string): string {
  return STEM.exec(stem)?.[1] ?? '';
}

/** Sorts stems by time, also those of several spools. */
export function newestFirst(stems: readonly string[]): readonly string[] {
  const timeOf = (stem: string) => stem.slice(spoolOf(stem).length);
  return stems.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
}

/** Returns the stem of a file of the spool `name`, or of any spool; `undefined` for other files. */
export function stemOf(file: string, ending: SpoolEnding, name?: string): string | undefined {
  if (!file.endsWith(ending)) return undefined;
  const stem = file.slice(0, -ending.length);
  const found = STEM.exec(stem);
  return found !== null && (name === undefined || found[1] === name) ? stem : undefined;
}
