/** A chunk of a stored body as a viewer takes it. See `Viewer.maxWriteBytes`. Pure. */

/** Views of the chunk, each at most that long, in order. */
export function inPieces(chunk: Buffer, maxBytes: number): readonly Buffer[] {
  if (chunk.length <= maxBytes) return [chunk];
  const pieces: Buffer[] = [];
  for (let at = 0; at < chunk.length; at += maxBytes) pieces.push(chunk.subarray(at, at + maxBytes));
  return pieces;
}
