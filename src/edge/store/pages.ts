/**
 * Large buffers that the memory tier is made of. Those that one part gives back are used by another: a new one is memory outside the
 * heap, which the engine answers with collections of all its memory.
 */

const MAX_PAGE_BYTES = 1024 * 1024;
const MIN_PAGE_BYTES = 4 * 1024;
/** A page is a small part of the whole, so that giving one back means something. */
const PAGES_AT_LEAST = 16;
/** Pages that are kept though nobody uses them. */
const MAX_SPARE_PAGES = 4;

export class Pages {
  /** Size of each page: a power of two. */
  readonly sizeBytes: number;
  readonly #spare: Buffer[] = [];

  /** `maxBytes`: limit of all pages together, which is not checked here. */
  constructor(maxBytes: number) {
    const share = 2 ** Math.floor(Math.log2(Math.max(1, maxBytes / PAGES_AT_LEAST)));
    this.sizeBytes = Math.min(MAX_PAGE_BYTES, Math.max(MIN_PAGE_BYTES, share));
  }

  /** The content is undefined. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.sizeBytes);
  }

  giveBack(page: Buffer): void {
    if (this.#spare.length < MAX_SPARE_PAGES) this.#spare.push(page);
  }
}
