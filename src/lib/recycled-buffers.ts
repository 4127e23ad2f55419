/**
 * A pool of equal buffers. A new buffer for each use would be memory outside the heap, which the system provides page
 * by page and the engine answers with full collections.
 */
export class RecycledBuffers {
  readonly sizeBytes: number;
  readonly #maxSpare: number;
  readonly #spare: Buffer[] = [];

  /** `maxSpare`: free buffers that are kept; more are left to the collector. */
  constructor(sizeBytes: number, maxSpare: number) {
    this.sizeBytes = sizeBytes;
    this.#maxSpare = maxSpare;
  }

  /** Returns a buffer with arbitrary content. It need not be returned. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.sizeBytes);
  }

  /** Returns a buffer to the pool: only once, and only when nothing will read or write it any more. */
  give(buffer: Buffer): void {
    if (this.#spare.length < this.#maxSpare) this.#spare.push(buffer);
  }
}
