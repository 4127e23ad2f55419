/**
 * A body that is being stored, read along by requests for the same object: each reads from the first byte at its own
 * pace. docs/decisions/0080
 */
import type { Stored } from '#http/stored.ts';
import { appendChunk } from '#lib/joined-chunks.ts';
import type { ClientLag } from './client-lag.ts';
import { holdNothing } from './memory-body.ts';
import type { Holdable, Release, StoredBody } from './store.ts';

/** Bytes kept for readers: how far the slowest may be behind, and how late one may join. All readers share them. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** Bytes kept while all windows together exceed the budget: enough for readers that keep up. */
const MIN_WINDOW_BYTES = 256 * 1024;

export type SharedEnd =
  /** `body` is the stored body; `undefined` if the store did not take it. */
  | { readonly kind: 'whole'; readonly sizeBytes: number; readonly body: StoredBody | undefined }
  | { readonly kind: 'broken' };

export class SharedBody implements Holdable {
  /** Head that the body will be stored with. */
  readonly stored: Stored;
  readonly bodyBytes: number | undefined;
  /** Called once, when the last reader has left. */
  onUnread: (() => void) | undefined;
  readonly #lag: ClientLag;
  readonly #chunks: Buffer[] = [];
  /** Offset in the body of each chunk's first byte. */
  readonly #starts: number[] = [];
  readonly #readers = new Set<SharedReader>();
  /** Offsets in the body: of the first byte that is kept, and after the last. */
  #first = 0;
  #end = 0;
  #over: SharedEnd | undefined;
  /** Memory of the store that contains the chunks, held until the body is over and its last reader has left. */
  #memory: StoredBody | undefined;
  #release: Release | undefined;
  #isUnstored = false;
  #onProgress: (() => void) | undefined;

  /** `lag` is notified of the number of bytes kept, down to 0 when the body is over and the last reader has left. */
  constructor(stored: Stored, bodyBytes: number | undefined, lag: ClientLag) {
    this.stored = stored;
    this.bodyBytes = bodyBytes;
    this.#lag = lag;
  }

  /** Whether a reader can still join: the first byte is kept, and the body is not over. */
  get isOpen(): boolean {
    return this.#first === 0 && this.#over === undefined;
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** Whether the store has given the body up: readers that have fallen behind cannot get the rest from it. */
  get isUnstored(): boolean {
    return this.#isUnstored;
  }

  noteUnstored(): void {
    if (this.#isUnstored) return;
    this.#isUnstored = true;
    this.#wakeAll();
  }

  /** How the body ended; `undefined` while bytes may arrive. */
  get over(): SharedEnd | undefined {
    return this.#over;
  }

  /**
   * Adds a chunk without copying it. Small chunks should be `PagedCopies`, since each piece of memory has a cost.
   * `memory` is held while the chunks are kept.
   */
  push(chunk: Buffer, memory?: StoredBody): void {
    if (memory !== undefined && this.#memory === undefined) {
      this.#memory = memory;
      this.#release = memory.hold();
    }
    if (appendChunk(this.#chunks, chunk)) this.#starts.push(this.#end);
    this.#end += chunk.length;
    // Readers that join after this much must wait until the body is stored.
    if (this.#end > WINDOW_BYTES && this.#readers.size === 0) this.#trim(0);
    else this.#trim(this.#lag.note(this.#end - this.#first) ? WINDOW_BYTES : MIN_WINDOW_BYTES);
    this.#wakeAll();
  }

  /**
   * Backpressure for bodies that are not stored: resolves when no reader is far behind. Returns `undefined` if none is.
   */
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

  /** Marks the body as broken. No effect after `finish`. */
  break(): void {
    this.#close({ kind: 'broken' });
  }

  /** Memory that readers use even if the store has given the body up. */
  get memory(): StoredBody | undefined {
    return this.#memory;
  }

  /** Holds the memory that a reader has read, for use after it has left. Must be called before it leaves. */
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

  /**
   * Returns the bytes from this offset to the end of their chunk; `undefined` if they have not arrived or are no longer
   * kept.
   */
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

  /** Offset of the next byte. */
  get at(): number {
    return this.#at;
  }

  /** Returns the next bytes; `undefined` if they have not arrived or are no longer kept. */
  read(): Buffer | undefined {
    const chunk = this.#shared.chunkAt(this.#at);
    if (chunk === undefined) return undefined;
    this.#at += chunk.length;
    this.#shared.noteProgress(this, false);
    return chunk;
  }

  /** Resolves when bytes have arrived, the body is over or unstored, or `wake` is called. */
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
