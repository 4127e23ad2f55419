/**
 * A body that is on its way into the store, for those who asked for the same object meanwhile: each reads it at its own pace,
 * from its first byte. docs/decisions/0080
 */
import type { Stored } from '#http/stored.ts';
import { appendChunk } from '#lib/joined-chunks.ts';
import type { ClientLag } from './client-lag.ts';
import { holdNothing } from './memory-body.ts';
import type { Holdable, Release, StoredBody } from './store.ts';

/** What is kept for readers: as far as the slowest may be behind, and how late one may come. Shared by all of them. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** What is kept when all windows together are over the budget: enough for those who keep up. */
const MIN_WINDOW_BYTES = 256 * 1024;

export type SharedEnd =
  /** `body`: what the store has taken; `undefined` when it has not. */
  | { readonly kind: 'whole'; readonly sizeBytes: number; readonly body: StoredBody | undefined }
  | { readonly kind: 'broken' };

export class SharedBody implements Holdable {
  /** The head under which it will be stored. */
  readonly stored: Stored;
  readonly bodyBytes: number | undefined;
  /** Called once, when the last reader has left. */
  onUnread: (() => void) | undefined;
  readonly #lag: ClientLag;
  readonly #chunks: Buffer[] = [];
  /** Position in the body of each chunk's first byte. */
  readonly #starts: number[] = [];
  readonly #readers = new Set<SharedReader>();
  /** Positions in the body: of the first byte that is kept, and behind the last. */
  #first = 0;
  #end = 0;
  #over: SharedEnd | undefined;
  /** Memory of the store that chunks lie in, held until the body is over and its last reader has left. */
  #memory: StoredBody | undefined;
  #release: Release | undefined;
  #isUnstored = false;
  #onProgress: (() => void) | undefined;

  /** `lag` is notified of the bytes kept, down to 0 when the body is over and the last reader has left. */
  constructor(stored: Stored, bodyBytes: number | undefined, lag: ClientLag) {
    this.stored = stored;
    this.bodyBytes = bodyBytes;
    this.#lag = lag;
  }

  /** The first byte is still there. */
  get isOpen(): boolean {
    return this.#first === 0 && this.#over === undefined;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** The store has given the body up: readers that have fallen behind will not find the rest there. */
  get isUnstored(): boolean {
    return this.#isUnstored;
  }

  noteUnstored(): void {
    if (this.#isUnstored) return;
    this.#isUnstored = true;
    this.#wakeAll();
  }

  /** Set when no more bytes will come. */
  get over(): SharedEnd | undefined {
    return this.#over;
  }

  /**
   * Keeps the chunk itself, not a copy. Small chunks should be `PagedCopies`: each piece of memory costs something. `memory`:
   * what must be held meanwhile.
   */
  push(chunk: Buffer, memory?: StoredBody): void {
    if (memory !== undefined && this.#memory === undefined) {
      this.#memory = memory;
      this.#release = memory.hold();
    }
    if (appendChunk(this.#chunks, chunk)) this.#starts.push(this.#end);
    this.#end += chunk.length;
    // Without a reader by now, the next ones can only come when the body is stored.
    if (this.#end > WINDOW_BYTES && this.#readers.size === 0) this.#trim(0);
    else this.#trim(this.#lag.note(this.#end - this.#first) ? WINDOW_BYTES : MIN_WINDOW_BYTES);
    this.#wakeAll();
  }

  /** Where the store takes no more, readers set the pace: resolves when none is far behind. `undefined`: none is. */
  room(): Promise<void> | undefined {
    if (!this.#isFarBehind()) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onProgress = () => {
      if (!this.#isFarBehind()) resolve();
    };
    return promise;
  }

  finish(body: StoredBody | undefined): void {
    this.#close({ kind: 'whole', sizeBytes: this.#end, body });
  }

  /** Does nothing after `finish`. */
  break(): void {
    this.#close({ kind: 'broken' });
  }

  /** What readers keep in memory although the store may have given it up. */
  get memory(): StoredBody | undefined {
    return this.#memory;
  }

  /** Holds what a reader has read, for use after it has left. To be called before that. */
  hold(): Release {
    return this.#memory?.hold() ?? holdNothing();
  }

  open(at: number): SharedReader {
    const reader = new SharedReader(at, this);
    this.#readers.add(reader);
    return reader;
  }

  /** Called by readers that have read on or left. */
  noteProgress(reader: SharedReader, hasLeft: boolean): void {
    if (hasLeft) this.#readers.delete(reader);
    this.#onProgress?.();
    if (this.#readers.size > 0) return;
    if (this.#over !== undefined) this.#forget();
    if (!hasLeft) return;
    const tell = this.onUnread;
    this.onUnread = undefined;
    tell?.();
  }

  /** Whether the bytes at this position are no longer kept. */
  hasLost(position: number): boolean {
    return position < this.#first;
  }

  /** The bytes from this position to the end of their chunk; `undefined`: not there yet, or not any more. */
  chunkAt(position: number): Buffer | undefined {
    if (position < this.#first || position >= this.#end) return undefined;
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return this.#chunks[low]?.subarray(position - (this.#starts[low] ?? 0));
  }

  #isFarBehind(): boolean {
    for (const { at } of this.#readers) if (at >= this.#first && this.#end - at > MIN_WINDOW_BYTES / 2) return true;
    return false;
  }

  #close(end: SharedEnd): void {
    if (this.#over !== undefined) return;
    this.#over = end;
    if (this.#readers.size === 0) this.#forget();
    this.#wakeAll();
  }

  #forget(): void {
    this.#trim(0);
    this.#release?.();
  }

  #trim(maxBytes: number): void {
    while (this.#end - this.#first > maxBytes) {
      const chunk = this.#chunks.shift();
      if (chunk === undefined) break;
      this.#starts.shift();
      this.#first += chunk.length;
    }
    this.#lag.note(this.#end - this.#first);
  }

  #wakeAll(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

export class SharedReader {
  readonly #shared: SharedBody;
  #at: number;
  #wake: (() => void) | undefined;

  constructor(at: number, shared: SharedBody) {
    this.#at = at;
    this.#shared = shared;
  }

  /** The position of the next byte. */
  get at(): number {
    return this.#at;
  }

  /** What comes next and is there; `undefined`: not yet, or not any more. */
  read(): Buffer | undefined {
    const chunk = this.#shared.chunkAt(this.#at);
    if (chunk === undefined) return undefined;
    this.#at += chunk.length;
    this.#shared.noteProgress(this, false);
    return chunk;
  }

  /** Resolves when there is news, or by `wake`. */
  wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }

  readonly wake = (): void => this.#wake?.();

  leave(): void {
    this.#shared.noteProgress(this, true);
  }
}
