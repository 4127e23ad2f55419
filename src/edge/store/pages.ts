/**
 * Large buffers that make up the memory tier. One part's returned pages are reused by another, since new memory outside
 * the heap makes the engine collect all of its memory.
 */

const MAX_PAGE_BYTES = 1024 * 1024;
const MIN_PAGE_BYTES = 4 * 1024;
/** Minimum number of pages in the limit, so that a page is a small part of the whole. */
const PAGES_AT_LEAST = 16;
/** Limit of unused pages that are kept. */
const MAX_SPARE_PAGES = 4;

export class Pages {
  /** Size of each page: a power of two. */
  readonly sizeBytes: number;
  readonly #spare: Buffer[] = [];

  /** `maxBytes` is the limit of all pages together; it sets the page size and is not enforced here. */
  constructor(maxBytes: number) {
    const share = 2 ** Math.floor(Math.log2(Math.max(1, maxBytes / PAGES_AT_LEAST)));
    this.sizeBytes = Math.min(MAX_PAGE_BYTES, Math.max(MIN_PAGE_BYTES, share));
  }

  /** Returns a page with undefined content. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.sizeBytes);
  }

  giveBack(page: Buffer): void {
    if (this.#spare.length < MAX_SPARE_PAGES) this.#spare.push(page);
  }
}
