/**
 * Bytes for long, in memory of their own. What the engine's pool gives is a part of a block, and keeps all of the block, with whatever
 * else was in it.
 */
export function ownBytes(pieces: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
