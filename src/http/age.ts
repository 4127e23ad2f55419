/** The `Age` field. RFC 9111 §5.1 */
import { parseDeltaSeconds } from './cache-control.ts';
import { trimOws } from './headers.ts';

/**
 * Parses the lines of `Age` to milliseconds; 0 if absent or invalid. Only the first member counts, and it must be
 * digits only: `7200.0` and `7200;a=b` are invalid and ignored.
 */
export function parseAge(lines: readonly string[]): number {
  const [line] = lines;
  if (line === undefined) return 0;
  const [member = ''] = line.split(',', 1);
  return (parseDeltaSeconds(trimOws(member)) ?? 0) * 1000;
}

/** Formats an age as whole seconds. */
export function formatAge(ageMs: number): string {
  return String(Math.floor(ageMs / 1000));
}
