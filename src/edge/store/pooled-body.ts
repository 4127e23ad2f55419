/**
 * A body in blocks of the pool. The store keeps it, readers hold it; its blocks are freed as soon as neither does.
 * docs/decisions/0565, 0566
 */
import type { ByteSpan } from '#http/range.ts';
import type { Seat } from '#lib/roster.ts';
import type { Release, StoredBody } from './store.ts';

/** Adjacent blocks of one page. */
export interface Run {
  readonly first: number;
  readonly count: number;
  /** All bytes of the blocks. */
  readonly bytes: Buffer;
}

/** The pool, as seen by its bodies. */
export interface BlockSource {
  readonly blockBytes: number;
  /** Takes adjacent blocks, at least one and at most `maxBlocks`. Returns `undefined` if there is no room. */
  take(maxBlocks: number): Run | undefined;
  /** Called when the body has its first blocks. Returns its seat for `noteFreed`. */
  noteOpened(body: PooledBody): Seat<PooledBody>;
  /** Adds to the blocks that exist only because they are held; a negative number subtracts. */
  noteOrphan(blocks: number): void;
  /** Called when the body's blocks are free. `seat` is `undefined` if it never had any. */
  noteFreed(seat: Seat<PooledBody> | undefined, runs: readonly Run[], wasOrphan: boolean): void;
}

export class PooledBody implements StoredBody {
  readonly #pool: BlockSource;
  #runs: Run[] = [];
  #sizeBytes = 0;
  #blocks = 0;
  #pieces: readonly Buffer[] | undefined;
  #isGrowing = true;
  #seat: Seat<PooledBody> | undefined;
  #keeps = 0;
  #holds = 0;
  #isOrphan = false;
  #isGone = false;

  constructor(pool: BlockSource) {
    this.#pool = pool;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get runs(): readonly Run[] {
    return this.#runs;
  }

  /** Memory of the body, in whole blocks. */
  get takenBytes(): number {
    return this.#blocks * this.#pool.blockBytes;
  }

  /**
   * Appends a copy of the chunk and returns it in pieces; `undefined` if there is no room for all of it, and then
   * nothing was appended. `expectedBytes`: minimum size of the finished body.
   */
  append(chunk: Buffer, expectedBytes: number): readonly Buffer[] | undefined {
    if (this.#isGone || !this.#isGrowing) throw new Error('a body that is finished does not grow');
    const { blockBytes } = this.#pool;
    const before = this.#sizeBytes;
    const placed: Buffer[] = [];
    this.#pieces = undefined;
    for (let from = 0; from < chunk.length; ) {
      let room = this.takenBytes - this.#sizeBytes;
      if (room === 0) {
        const missing = Math.max(chunk.length - from, expectedBytes - this.#sizeBytes);
        room = this.#grow(Math.ceil(missing / blockBytes));
      }
      const run = this.#runs.at(-1);
      if (room === 0 || run === undefined) {
        this.#sizeBytes = before;
        return undefined;
      }
      const at = run.bytes.length - room;
      const copied = chunk.copy(run.bytes, at, from);
      placed.push(run.bytes.subarray(at, at + copied));
      from += copied;
      this.#sizeBytes += copied;
    }
    return placed;
  }

  /** Returns the number of bytes of room added; 0 if there is none. */
  #grow(maxBlocks: number): number {
    const run = this.#pool.take(maxBlocks);
    if (run === undefined) return 0;
    this.#seat ??= this.#pool.noteOpened(this);
    this.#runs.push(run);
    this.#blocks += run.count;
    return run.bytes.length;
  }

  /** Ends the body: nothing can be appended any more. */
  finish(): void {
    this.#isGrowing = false;
  }

  /**
   * The whole body, valid for the current turn of the event loop or while it is held. Throws if its blocks are free.
   */
  get inMemory(): readonly Buffer[] {
    if (this.#isGone) throw new Error('the memory of this body is another one by now');
    this.#pieces ??= this.#cut(0, this.#sizeBytes);
    return this.#pieces;
  }

  read({ first, last }: ByteSpan): readonly Buffer[] {
    if (this.#holds === 0) throw new Error('a body is read that nobody holds');
    return first === 0 && last === this.#sizeBytes - 1 ? this.inMemory : this.#cut(first, last + 1);
  }

  #cut(start: number, end: number): readonly Buffer[] {
    const pieces: Buffer[] = [];
    let at = 0;
    for (const { bytes } of this.#runs) {
      if (at >= end) break;
      const piece = bytes.subarray(Math.max(start - at, 0), end - at);
      if (at + bytes.length > start && piece.length > 0) pieces.push(piece);
      at += bytes.length;
    }
    return pieces;
  }

  hold(): Release | undefined {
    return this.#isGone ? undefined : this.#count(1, 0);
  }

  /** Like `hold`, for the store and writers: the body counts as the store's memory. */
  keep(): Release | undefined {
    return this.#isGone ? undefined : this.#count(0, 1);
  }

  /** Whether the body counts as the store's memory. */
  get isKept(): boolean {
    return this.#keeps > 0;
  }

  #count(hold: number, keep: number): Release {
    this.#holds += hold;
    this.#keeps += keep;
    this.#settle();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#holds -= hold;
      this.#keeps -= keep;
      this.#settle();
    };
  }

  #settle(): void {
    const wasOrphan = this.#isOrphan;
    this.#isOrphan = this.#keeps === 0 && this.#holds > 0;
    if (wasOrphan !== this.#isOrphan) this.#pool.noteOrphan(wasOrphan ? -this.#blocks : this.#blocks);
    if (this.#keeps > 0 || this.#holds > 0) return;
    this.#isGone = true;
    const runs = this.#runs;
    this.#runs = [];
    this.#pool.noteFreed(this.#seat, runs, wasOrphan);
    this.#pieces = undefined;
  }

  /** Whether the blocks may move: the body has no readers and no writer. */
  get isMovable(): boolean {
    return this.#holds === 0 && !this.#isGrowing;
  }

  /** Moves the contents of blocks from `begin` up to, but not including, `end` to other blocks, which must be free. */
  move(begin: number, end: number): void {
    if (!this.#runs.some(({ first }) => first >= begin && first < end)) return;
    this.#pieces = undefined;
    this.#runs = this.#runs.flatMap((run) => (run.first >= begin && run.first < end ? this.#copyRun(run) : [run]));
  }

  #copyRun({ count, bytes }: Run): Run[] {
    const copies: Run[] = [];
    for (let left = count; left > 0; ) {
      const copy = this.#pool.take(left);
      if (copy === undefined) throw new Error('there were free blocks');
      bytes.copy(copy.bytes, 0, (count - left) * this.#pool.blockBytes);
      copies.push(copy);
      left -= copy.count;
    }
    return copies;
  }
}
