/** Bodies with memory of their own, freed by the garbage collector. */
import type { Release, StoredBody } from './store.ts';

/** Wraps bytes without a copy: they must not be written to afterwards. */
export function wrapBytes(bytes: Buffer): StoredBody {
  return {
    sizeBytes: bytes.length,
    hold: holdNothing,
    inMemory: bytes.length === 0 ? [] : [bytes],
    read: ({ first, last }) => (last < first ? [] : [bytes.subarray(first, last + 1)]),
  };
}

const RELEASE_NOTHING: Release = () => undefined;

/** `hold` of bytes whose memory is not reused. */
export function holdNothing(): Release {
  return RELEASE_NOTHING;
}

/** Copies the whole of a body that is known to be small. */
export async function readWhole(body: StoredBody): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body.read({ first: 0, last: body.sizeBytes - 1 })) pieces.push(piece);
  return Buffer.concat(pieces);
}
