/** The `Age` field. RFC 9111 §5.1 */
import { parseDeltaSeconds } from './cache-control.ts';
import { trimOws } from './headers.ts';

/**
 * Milliseconds; 0 when absent or invalid. Of several lines or members only the first counts, and it must be digits
 * alone: `7200.0` and `7200;a=b` are invalid, and an invalid Age is ignored.
 */
export function parseAge(lines: readonly string[]): number {
  const [line] = lines;
  if (line === undefined) return 0;
  const [member = ''] = line.split(',', 1);
  return (parseDeltaSeconds(trimOws(member)) ?? 0) * 1000;
}

/** Whole seconds, as the field has it. */
export function formatAge(ageMs: number): string {
  return String(Math.floor(ageMs / 1000));
}
