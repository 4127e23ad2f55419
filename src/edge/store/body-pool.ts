/**
 * Memory for bodies: pages cut into blocks, which are reused for other bodies and normally never left to the garbage
 * collector. A body is a list of runs of adjacent blocks. The store chooses which body to evict for another.
 * docs/decisions/0566
 */
import { Roster, type Seat } from '#lib/roster.ts';
import type { Pages } from './pages.ts';
import { type BlockSource, PooledBody, type Run } from './pooled-body.ts';

/**
 * Limits of a block's size. Half a block per body is unused on average; smaller blocks would split bodies into more
 * pieces.
 */
const MAX_BLOCK_BYTES = 8 * 1024;
const MIN_BLOCK_BYTES = 1024;
/** Minimum number of blocks in a page, also in a small one. */
const BLOCKS_AT_LEAST = 16;

export interface BodyPoolOptions {
  readonly pages: Pages;
  /** Called if no block is free. Returns false if none can be freed and there is no room for another page. */
  readonly makeRoom: () => boolean;
  /** Called when a body that had already left the store is freed. */
  readonly onOrphanFreed: () => void;
  /** Called with bytes that are free now. Tests overwrite them. */
  readonly onFreed?: ((bytes: Buffer) => void) | undefined;
}

export class BodyPool implements BlockSource {
  readonly blockBytes: number;
  readonly #options: BodyPoolOptions;
  readonly #blocksPerPage: number;
  /** `undefined` where a page was given back. */
  readonly #pages: (Buffer | undefined)[] = [];
  #pageCount = 0;
  /** Stack of free block numbers: the blocks freed last are used first, in ascending order. */
  #free = new Int32Array(0);
  #freeCount = 0;
  readonly #freeOfPage: number[] = [];
  readonly #bodies = new Roster<PooledBody>();
  #orphanBlocks = 0;

  constructor(options: BodyPoolOptions) {
    this.#options = options;
    const { sizeBytes } = options.pages;
    this.blockBytes = Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, sizeBytes / BLOCKS_AT_LEAST));
    this.#blocksPerPage = sizeBytes / this.blockBytes;
  }

  get pageBytes(): number {
    return this.#options.pages.sizeBytes;
  }

  /** Bytes of all pages, used or not. */
  get bytes(): number {
    return this.#pageCount * this.pageBytes;
  }

  get hasFree(): boolean {
    return this.#freeCount > 0;
  }

  get freeBytes(): number {
    return this.#freeCount * this.blockBytes;
  }

  /** Bytes of bodies that have left the store and exist only because they are held. */
  get orphanBytes(): number {
    return this.#orphanBlocks * this.blockBytes;
  }

  /** Returns an empty body. The caller must keep it before it appends. */
  open(): PooledBody {
    return new PooledBody(this);
  }

  addPage(): void {
    const hole = this.#pages.indexOf(undefined);
    const page = hole === -1 ? this.#pages.length : hole;
    this.#pages[page] = this.#options.pages.take();
    this.#pageCount += 1;
    this.#freeOfPage[page] = 0;
    const blocks = this.#pages.length * this.#blocksPerPage;
    if (blocks > this.#free.length) {
      const larger = new Int32Array(Math.max(blocks, this.#free.length * 2));
      larger.set(this.#free);
      this.#free = larger;
    }
    this.#push(page * this.#blocksPerPage, this.#blocksPerPage);
  }

  /**
   * Moves the bodies of the emptiest page to the others and gives the page back. Returns false if that is not possible
   * now.
   */
  giveBackPage(): boolean {
    if (this.#freeCount < this.#blocksPerPage) return false;
    const page = this.#emptiestPage();
    if (page === undefined) return false;
    const begin = page * this.#blocksPerPage;
    const end = begin + this.#blocksPerPage;
    const others = this.#free.subarray(0, this.#freeCount).filter((block) => block < begin || block >= end);
    this.#free.set(others);
    this.#freeCount = others.length;
    for (const body of this.#bodies.members()) body.move(begin, end);
    const bytes = this.#pages[page];
    if (bytes === undefined) return false;
    this.#options.onFreed?.(bytes);
    this.#options.pages.giveBack(bytes);
    this.#pages[page] = undefined;
    this.#pageCount -= 1;
    return true;
  }

  /** Returns the page with the most free blocks among those without held bodies; `undefined` if there is none. */
  #emptiestPage(): number | undefined {
    const fixed = new Set<number>();
    for (const body of this.#bodies.members()) {
      if (!body.isMovable) for (const { first } of body.runs) fixed.add(this.#pageOf(first));
    }
    let best: number | undefined;
    for (let page = 0; page < this.#pages.length; page++) {
      if (this.#pages[page] === undefined || fixed.has(page)) continue;
      if (best === undefined || (this.#freeOfPage[page] ?? 0) > (this.#freeOfPage[best] ?? 0)) best = page;
    }
    return best;
  }

  // The methods below are for the pool's bodies.

  take(maxBlocks: number): Run | undefined {
    if (this.#freeCount === 0 && !this.#options.makeRoom()) return undefined;
    const first = this.#free[--this.#freeCount] ?? 0;
    const page = this.#pageOf(first);
    const end = Math.min(first + maxBlocks, (page + 1) * this.#blocksPerPage);
    let count = 1;
    while (first + count < end && this.#freeCount > 0 && this.#free[this.#freeCount - 1] === first + count) {
      this.#freeCount -= 1;
      count += 1;
    }
    this.#freeOfPage[page] = (this.#freeOfPage[page] ?? 0) - count;
    const bytes = this.#pages[page];
    if (bytes === undefined) throw new Error('a free block is in a page');
    const at = (first % this.#blocksPerPage) * this.blockBytes;
    return { first, count, bytes: bytes.subarray(at, at + count * this.blockBytes) };
  }

  noteOpened(body: PooledBody): Seat<PooledBody> {
    return this.#bodies.add(body);
  }

  noteOrphan(blocks: number): void {
    this.#orphanBlocks += blocks;
  }

  noteFreed(seat: Seat<PooledBody> | undefined, runs: readonly Run[], wasOrphan: boolean): void {
    if (seat !== undefined) this.#bodies.remove(seat);
    // In reverse, so that the first blocks are reused first.
    for (const run of runs.toReversed()) this.#give(run);
    if (wasOrphan) this.#options.onOrphanFreed();
  }

  #give({ first, count, bytes }: Run): void {
    this.#options.onFreed?.(bytes);
    this.#push(first, count);
  }

  #push(first: number, count: number): void {
    for (let block = first + count - 1; block >= first; block--) this.#free[this.#freeCount++] = block;
    const page = this.#pageOf(first);
    this.#freeOfPage[page] = (this.#freeOfPage[page] ?? 0) + count;
  }

  #pageOf(block: number): number {
    return Math.floor(block / this.#blocksPerPage);
  }
}
