/**
 * Memory for many small records: pages cut into chunks, where a record is a chain of chunks. Records of different sizes
 * cause no fragmentation, the garbage collector sees a few large buffers, and pages are given back when there are fewer
 * records.
 */
import type { Pages } from './pages.ts';
import { grown, NONE } from './slot-table.ts';

/** Size of a chunk. Half a chunk per record is unused on average; smaller chunks would cost more copies. */
const CHUNK_BYTES = 128;
/** Size of a chunk's two links. */
const LINK_BYTES = 8;

export class Arena {
  readonly #source: Pages;
  readonly #chunksPerPage: number;
  readonly #pageBytes: number;
  readonly #onMove: (owner: number, first: number) => void;
  /** `undefined` where a page was given back. */
  readonly #pages: (Buffer | undefined)[] = [];
  readonly #freeOfPage: number[] = [];
  readonly #firstFreeOfPage: number[] = [];
  /** Pages with free chunks. */
  readonly #open: number[] = [];
  #next = new Int32Array(0);
  /** Previous chunk; for a record's first chunk, its owner as `-2 - owner`. */
  #previous = new Int32Array(0);
  #pageCount = 0;
  #free = 0;

  /** `onMove` is called when the first chunk of a record has moved. */
  constructor(source: Pages, onMove: (owner: number, first: number) => void) {
    this.#source = source;
    this.#chunksPerPage = source.sizeBytes / CHUNK_BYTES;
    this.#pageBytes = source.sizeBytes + this.#chunksPerPage * LINK_BYTES;
    this.#onMove = onMove;
  }

  /** Bytes of all pages, used or not. */
  get bytes(): number {
    return this.#pageCount * this.#pageBytes;
  }

  /** Returns the memory that a record of this size takes. */
  static weigh(bytes: number): number {
    return Math.ceil(bytes / CHUNK_BYTES) * (CHUNK_BYTES + LINK_BYTES);
  }

  /** Returns by how many bytes the arena grows for a record of this size; 0 if there is room. */
  growthFor(bytes: number): number {
    const missing = Math.ceil(bytes / CHUNK_BYTES) - this.#free;
    return missing <= 0 ? 0 : Math.ceil(missing / this.#chunksPerPage) * this.#pageBytes;
  }

  /** Writes a record, adding pages if needed. Returns its first chunk. */
  write(owner: number, record: Buffer): number {
    let first = NONE;
    let last = NONE;
    for (let at = 0; at < record.length || first === NONE; at += CHUNK_BYTES) {
      const chunk = this.#takeChunk();
      record.copy(this.#pageOf(chunk), this.#positionOf(chunk), at, at + CHUNK_BYTES);
      this.#next[chunk] = NONE;
      this.#previous[chunk] = first === NONE ? -2 - owner : last;
      if (first === NONE) first = chunk;
      else this.#next[last] = chunk;
      last = chunk;
    }
    return first;
  }

  /** Returns a copy, since the chunks may soon be reused for another record. */
  read(first: number, length: number): Buffer {
    const record = Buffer.allocUnsafe(length);
    let chunk = first;
    for (let at = 0; at < length; at += CHUNK_BYTES) {
      const position = this.#positionOf(chunk);
      this.#pageOf(chunk).copy(record, at, position, position + Math.min(CHUNK_BYTES, length - at));
      chunk = this.#next[chunk] ?? NONE;
    }
    return record;
  }

  free(first: number): void {
    for (let chunk = first; chunk !== NONE; ) {
      const next = this.#next[chunk] ?? NONE;
      this.#freeChunk(chunk);
      chunk = next;
    }
  }

  /**
   * Moves the chunks of the emptiest page to the others and gives the page back. Returns false if the others lack the
   * room.
   */
  giveBackPage(): boolean {
    if (this.#free < this.#chunksPerPage) return false;
    const page = this.#emptiestPage();
    const freeHere = this.#freeOfPage[page] ?? 0;
    this.#open.splice(this.#open.indexOf(page), 1);
    const freeChunks = new Set<number>();
    for (let chunk = this.#firstFreeOfPage[page] ?? NONE; chunk !== NONE; chunk = this.#next[chunk] ?? NONE)
      freeChunks.add(chunk);
    this.#free -= freeHere;
    const begin = page * this.#chunksPerPage;
    for (let chunk = begin; chunk < begin + this.#chunksPerPage; chunk++) if (!freeChunks.has(chunk)) this.#move(chunk);
    const bytes = this.#pages[page];
    if (bytes !== undefined) this.#source.giveBack(bytes);
    this.#pages[page] = undefined;
    this.#freeOfPage[page] = 0;
    this.#firstFreeOfPage[page] = NONE;
    this.#pageCount -= 1;
    return true;
  }

  #move(from: number): void {
    const to = this.#takeChunk();
    const position = this.#positionOf(from);
    this.#pageOf(from).copy(this.#pageOf(to), this.#positionOf(to), position, position + CHUNK_BYTES);
    const next = this.#next[from] ?? NONE;
    const previous = this.#previous[from] ?? NONE;
    this.#next[to] = next;
    this.#previous[to] = previous;
    if (next !== NONE) this.#previous[next] = to;
    if (previous >= 0) this.#next[previous] = to;
    else this.#onMove(-2 - previous, to);
  }

  #emptiestPage(): number {
    return this.#open.reduce((best, page) => {
      return (this.#freeOfPage[page] ?? 0) > (this.#freeOfPage[best] ?? 0) ? page : best;
    });
  }

  #takeChunk(): number {
    const page = this.#open.at(-1) ?? this.#addPage();
    const chunk = this.#firstFreeOfPage[page] ?? NONE;
    this.#firstFreeOfPage[page] = this.#next[chunk] ?? NONE;
    const left = (this.#freeOfPage[page] ?? 0) - 1;
    this.#freeOfPage[page] = left;
    if (left === 0) this.#open.pop();
    this.#free -= 1;
    return chunk;
  }

  #freeChunk(chunk: number): void {
    const page = Math.floor(chunk / this.#chunksPerPage);
    this.#next[chunk] = this.#firstFreeOfPage[page] ?? NONE;
    this.#firstFreeOfPage[page] = chunk;
    const free = (this.#freeOfPage[page] ?? 0) + 1;
    this.#freeOfPage[page] = free;
    if (free === 1) this.#open.push(page);
    this.#free += 1;
  }

  #addPage(): number {
    const hole = this.#pages.indexOf(undefined);
    const page = hole === -1 ? this.#pages.length : hole;
    this.#pages[page] = this.#source.take();
    this.#pageCount += 1;
    this.#freeOfPage[page] = 0;
    this.#firstFreeOfPage[page] = NONE;
    const end = (page + 1) * this.#chunksPerPage;
    if (end > this.#next.length) {
      const capacity = Math.max(end, this.#next.length + (this.#next.length >> 3));
      this.#next = grown(this.#next, new Int32Array(capacity));
      this.#previous = grown(this.#previous, new Int32Array(capacity));
    }
    for (let chunk = end - 1; chunk >= page * this.#chunksPerPage; chunk--) this.#freeChunk(chunk);
    return page;
  }

  #pageOf(chunk: number): Buffer {
    const page = this.#pages[Math.floor(chunk / this.#chunksPerPage)];
    if (page === undefined) throw new Error('a chunk in use is in a page');
    return page;
  }

  #positionOf(chunk: number): number {
    return (chunk % this.#chunksPerPage) * CHUNK_BYTES;
  }
}
