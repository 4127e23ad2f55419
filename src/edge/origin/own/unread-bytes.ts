/** Bytes of one connection that have not been read, in recycled memory. */
import { ownBytes } from '#lib/own-bytes.ts';
import type { RecycledBuffers } from '#lib/recycled-buffers.ts';

/** Smaller pieces are copied to memory of their own: they may wait as long as a client is slow. */
const MIN_RECYCLED_BYTES = 16 * 1024;

export class UnreadBytes {
  readonly #buffers: RecycledBuffers;
  #bytes: Buffer | undefined;
  /** The recycled buffer that holds the bytes; `undefined` if they have memory of their own. */
  #buffer: Buffer | undefined;

  constructor(buffers: RecycledBuffers) {
    this.#buffers = buffers;
  }

  get isEmpty(): boolean {
    return this.#bytes === undefined;
  }

  /** Copies the bytes after those that wait already. */
  add(bytes: Buffer): void {
    const waiting = this.#bytes;
    const fits = bytes.length >= MIN_RECYCLED_BYTES && bytes.length <= this.#buffers.sizeBytes;
    if (waiting === undefined && fits) {
      this.#buffer = this.#buffers.take();
      this.#bytes = this.#buffer.subarray(0, bytes.copy(this.#buffer));
      return;
    }
    const all = ownBytes(waiting === undefined ? [bytes] : [waiting, bytes]);
    this.clear();
    this.#bytes = all;
  }

  /** Passes all bytes to `read`, valid during the call only. Afterwards only bytes added by `read` are waiting. */
  lend(read: (bytes: Buffer) => void): void {
    const [bytes, buffer] = [this.#bytes, this.#buffer];
    if (bytes === undefined) return;
    this.#bytes = undefined;
    this.#buffer = undefined;
    read(bytes);
    if (buffer !== undefined) this.#buffers.give(buffer);
  }

  clear(): void {
    if (this.#buffer !== undefined) this.#buffers.give(this.#buffer);
    this.#buffer = undefined;
    this.#bytes = undefined;
  }
}
