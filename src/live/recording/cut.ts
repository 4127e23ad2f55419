/** How a broadcast is cut into recordings and their pieces. Pure. docs/decisions/0503 */

/** Shorter ones are many objects in the store and many lines in a playlist. */
const PIECE_MS = 10_000;
const PIECE_BYTES = 16 * 1024 * 1024;
/** A stream that is never off air has recordings that end, can be downloaded, and get old. */
const RECORDING_MS = 6 * 3_600_000;

/** Whether a piece that ends with a segment is long enough. */
export function isPieceLong({ durationMs, bytes }: { readonly durationMs: number; readonly bytes: number }): boolean {
  return durationMs >= PIECE_MS || bytes >= PIECE_BYTES;
}

/** Why the segment cannot be of the same recording; `undefined`: it can. */
export function whyAnother(
  recording: { readonly init: Buffer; readonly baseMs: number },
  segment: { readonly init: Buffer; readonly startMs: number },
): 'changed' | 'long' | undefined {
  if (!recording.init.equals(segment.init)) return 'changed';
  return segment.startMs - recording.baseMs >= RECORDING_MS ? 'long' : undefined;
}
