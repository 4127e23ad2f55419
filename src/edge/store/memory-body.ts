/** Bodies in memory, kept in blocks of their own so that no larger buffer is held alive. */
import type { ByteSpan } from '#http/range.ts';
import type { Release, StoredBody } from './store.ts';

/** Large enough for few writes, small enough to be had from a fragmented heap. */
const BLOCK_BYTES = 1024 * 1024;

/** The engine's own pool serves those, which spares it a buffer for each. */
const MAX_POOLED_BYTES = 8 * 1024;

/** Copies: a chunk is a view of all that one read of the socket gave, heads of other responses included. */
export function createMemoryBody(chunks: readonly Buffer[], sizeBytes: number): StoredBody {
  if (sizeBytes <= MAX_POOLED_BYTES) return wrapBytes(Buffer.concat(chunks));
  const blocks: Buffer[] = [];
  for (let at = 0; at < sizeBytes; at += BLOCK_BYTES) {
    blocks.push(Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, sizeBytes - at)));
  }
  let at = 0;
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const block = blocks[Math.floor(at / BLOCK_BYTES)];
      const copied = block === undefined ? 0 : chunk.copy(block, at % BLOCK_BYTES, from);
      if (copied === 0) throw new Error('the blocks are as long as the chunks together');
      from += copied;
      at += copied;
    }
  }
  return { sizeBytes, hold: holdNothing, inMemory: blocks, read: (span) => readBlocks(blocks, span) };
}

/** Wraps bytes without a copy: nothing else may write to them. */
export function wrapBytes(bytes: Buffer): StoredBody {
  return {
    sizeBytes: bytes.length,
    hold: holdNothing,
    inMemory: bytes.length === 0 ? [] : [bytes],
    read: ({ first, last }) => (last < first ? [] : [bytes.subarray(first, last + 1)]),
  };
}

const RELEASE_NOTHING: Release = () => undefined;

/** `hold` of bytes whose memory is not used again. */
export function holdNothing(): Release {
  return RELEASE_NOTHING;
}

/** Copies all of a body that is known to be small. */
export async function readWhole(body: StoredBody): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body.read({ first: 0, last: body.sizeBytes - 1 })) pieces.push(piece);
  return Buffer.concat(pieces);
}

function* readBlocks(blocks: readonly Buffer[], { first, last }: ByteSpan): Generator<Buffer> {
  for (let at = first; at <= last; ) {
    const block = blocks[Math.floor(at / BLOCK_BYTES)];
    if (block === undefined) return;
    const start = at % BLOCK_BYTES;
    const piece = block.subarray(start, Math.min(block.length, start + last - at + 1));
    yield piece;
    at += piece.length;
  }
}
