/** How a broadcast is cut into recordings and their pieces. Pure. docs/decisions/0503 */

/** Shortest piece, unless it is large: each is an object in the store and a line in a playlist. */
const PIECE_MS = 10_000;
const PIECE_BYTES = 16 * 1024 * 1024;
/** Longest recording, so that recordings of a permanent stream can be downloaded and expire. */
const RECORDING_MS = 6 * 3_600_000;

/** Whether a piece is long enough to end with the current segment. */
export function isPieceLong({ durationMs, bytes }: { readonly durationMs: number; readonly bytes: number }): boolean {
  return durationMs >= PIECE_MS || bytes >= PIECE_BYTES;
}

/** Returns why the segment cannot belong to the recording; `undefined` if it can. */
export function whyAnother(
  recording: { readonly init: Buffer; readonly baseMs: number },
  segment: { readonly init: Buffer; readonly startMs: number },
): 'changed' | 'long' | undefined {
  if (!recording.init.equals(segment.init)) return 'changed';
  return segment.startMs - recording.baseMs >= RECORDING_MS ? 'long' : undefined;
}
