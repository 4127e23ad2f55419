/**
 * Buffers of one size that are used again. A fresh one for each use is memory outside the heap, which the system hands out page
 * by page and the engine answers with full collections.
 */
export class RecycledBuffers {
  readonly sizeBytes: number;
  readonly #maxSpare: number;
  readonly #spare: Buffer[] = [];

  /** `maxSpare`: buffers that are kept for later uses; more are left to the engine. */
  constructor(sizeBytes: number, maxSpare: number) {
    this.sizeBytes = sizeBytes;
    this.#maxSpare = maxSpare;
  }

  /** A buffer with any content. Not giving it back is no fault. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.sizeBytes);
  }

  /** Only once, and only when nothing will read or write its bytes any more. */
  give(buffer: Buffer): void {
    if (this.#spare.length < this.#maxSpare) this.#spare.push(buffer);
  }
}
