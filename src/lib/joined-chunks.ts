/**
 * Keeps chunks of a stream in few pieces, however small the chunks are: a Buffer of one byte takes some hundred times
 * its size.
 */
import { ownBytes } from './own-bytes.ts';

/** Chunks of this size and more get memory of their own. */
const SMALL_BYTES = 16 * 1024;
const MIN_PAGE_BYTES = 1024;
const MAX_PAGE_BYTES = 64 * 1024;

/**
 * Copies the chunks of one stream. Small chunks are placed one after the other in pages; a page takes no more than the
 * chunks before it.
 */
export class PagedCopies {
  #page = NOTHING;
  #usedBytes = 0;
  #copiedBytes = 0;

  /** Returns a copy of the bytes in memory that does not change any more. */
  copy(chunk: Buffer): Buffer {
    const isFirst = this.#copiedBytes === 0;
    this.#copiedBytes += chunk.length;
    if (isFirst || chunk.length >= SMALL_BYTES) return ownBytes([chunk]);
    if (chunk.length > this.#page.length - this.#usedBytes) this.#takePage(chunk.length);
    const at = this.#usedBytes;
    this.#page.set(chunk, at);
    this.#usedBytes += chunk.length;
    return this.#page.subarray(at, this.#usedBytes);
  }

  #takePage(neededBytes: number): void {
    const sizeBytes = Math.min(MAX_PAGE_BYTES, Math.max(MIN_PAGE_BYTES, this.#copiedBytes));
    this.#page = Buffer.allocUnsafeSlow(Math.max(neededBytes, sizeBytes));
    this.#usedBytes = 0;
  }
}

/** Whether a chunk is large enough to be kept without copying. */
export function isLargeChunk({ length }: Buffer): boolean {
  return length >= SMALL_BYTES;
}

/**
 * Appends a chunk. A chunk that directly follows the last one in the same page is joined with it. Returns whether a
 * piece was added.
 */
export function appendChunk(chunks: Buffer[], chunk: Buffer): boolean {
  const last = chunks.at(-1);
  if (last === undefined || !follows(chunk, last)) {
    chunks.push(chunk);
    return true;
  }
  chunks[chunks.length - 1] = Buffer.from(chunk.buffer, last.byteOffset, last.length + chunk.length);
  return false;
}

function follows(chunk: Buffer, last: Buffer): boolean {
  if (last.buffer !== chunk.buffer || last.byteOffset + last.length !== chunk.byteOffset) return false;
  return last.length + chunk.length <= MAX_PAGE_BYTES;
}

const NOTHING = Buffer.alloc(0);
