/** Bodies in memory: gathered chunk by chunk, kept in blocks of their own so that no larger buffer is held alive. */
import type { ByteSpan } from '#http/range.ts';
import type { BodyWriter, StoredBody } from './store.ts';

/** Shared by all writers of a store. */
export interface WriterBudget {
  leftBytes: number;
  readonly maxBodyBytes: number;
}

/** Large enough for few writes, small enough to be had from a fragmented heap. */
const BLOCK_BYTES = 1024 * 1024;

export function createMemoryWriter(budget: WriterBudget): BodyWriter {
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  let isOpen = true;

  const close = (): void => {
    isOpen = false;
    budget.leftBytes += sizeBytes;
    chunks = [];
  };

  return {
    add: (chunk) => {
      if (!isOpen) return false;
      if (sizeBytes + chunk.length > budget.maxBodyBytes || chunk.length > budget.leftBytes) {
        close();
        return false;
      }
      sizeBytes += chunk.length;
      budget.leftBytes -= chunk.length;
      chunks.push(chunk);
      return true;
    },
    get isOpen() {
      return isOpen;
    },
    get sizeBytes() {
      return sizeBytes;
    },
    finish: () => {
      if (!isOpen) return undefined;
      const body = createMemoryBody(chunks, sizeBytes);
      close();
      return body;
    },
    discard: () => {
      if (isOpen) close();
    },
  };
}

/** Copies: a chunk is a view of all that one read of the socket gave, heads of other responses included. */
function createMemoryBody(chunks: readonly Buffer[], sizeBytes: number): StoredBody {
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
  return { sizeBytes, read: (span) => readBlocks(blocks, span) };
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
