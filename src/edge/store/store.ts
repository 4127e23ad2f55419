/**
 * What the edge needs of a cache store: `memory.ts`, `disk/disk.ts`, and `tiered.ts` which is one over the other. All of
 * them run the same suite (`store.suite.ts`).
 */
import type { CacheOptions } from '#http/options.ts';
import type { ByteSpan } from '#http/range.ts';
import type { Stored } from '#http/stored.ts';
import type { Variants } from '#http/variants.ts';

/** A complete stored response: its head, and a handle on its body. Immutable. */
export interface CachedResponse extends Stored {
  readonly body: StoredBody;
  /** The look-up that gave it read it from the disk. Memory does not keep this. */
  readonly isFromDisk?: boolean;
  /** Where memory has it, given where nothing else of a request than its key and `Accept-Encoding` chose it among the key's variants. */
  readonly place?: EntryPlace;
}

/** State of a key's entry in memory. */
export interface EntryPlace {
  readonly slot: number;
  readonly version: number;
}

/** Ends a hold. Further calls have no effect. */
export type Release = () => void;

/** Bytes in memory that another body gets as soon as nothing holds them. docs/decisions/0565 */
export interface Holdable {
  /** Keeps the bytes where they are, also when they leave the store. `undefined`: they are gone. */
  hold(): Release | undefined;
}

export interface StoredBody extends Holdable {
  readonly sizeBytes: number;
  /**
   * The bytes of the span in order. A reader must hold the body until it has done with the last piece, which includes a
   * socket that has not taken it. Throws when nobody holds the body, and when the bytes on disk are gone or not those that
   * were written: the answer must be cut.
   */
  read(span: ByteSpan): Iterable<Buffer> | AsyncIterable<Buffer>;
  /**
   * All of the body as it lies in memory, readable without a hold until the current turn of the event loop ends.
   * `undefined` or absent: it has to be read.
   */
  readonly inMemory?: readonly Buffer[] | undefined;
  /**
   * Awaited before the first byte of an answer is sent. False: the body is gone or damaged, and the variant has been removed;
   * look the key up again. Absent: the body is in memory.
   */
  readonly prepare?: () => Promise<boolean>;
  /** The bytes must be read from the disk. Absent: they are in memory. */
  readonly isOnDisk?: boolean;
  /**
   * Makes the body part of what the memory tier has, until that is released. `undefined`: its bytes are gone. Absent: the
   * memory tier needs a copy.
   */
  readonly keep?: () => Release | undefined;
  /** Memory that it takes now; absent: its size. */
  readonly heldBytes?: number;
  /** Memory that each reader takes besides, for pieces from the disk that nobody shares; absent: none. */
  readonly readerBytes?: number;
}

/** Everything under one cache key. */
export interface CacheEntry {
  readonly variants: Variants<CachedResponse>;
  /** What was requested at or before this instant is absent; `undefined`: never invalidated, or long ago. */
  readonly invalidatedAt: number | undefined;
}

/** Why a store takes nothing: the disk is full, or its directory cannot be used. */
export type StoreRefusal = 'storeFull' | 'storeError';

export interface StoreUsage {
  readonly bytes: number;
  /** Variants counted singly in memory, keys on disk. */
  readonly objects: number;
}

export interface CacheStore extends AsyncDisposable {
  /** Larger bodies are not taken. */
  readonly maxBodyBytes: number;
  find(key: string): Promise<CacheEntry | undefined> | CacheEntry | undefined;
  /**
   * Returns the entry that another worker has stored since, for a decision that `found` alone would take to the origin.
   * `undefined`: nothing newer.
   */
  findNewer(key: string, found: CacheEntry | undefined): Promise<CacheEntry | undefined> | undefined;
  /** Why a body of this size (`undefined`: unknown) would not be taken now; `undefined`: it would. */
  refuses(bodyBytes: number | undefined): StoreRefusal | undefined;
  /**
   * Gathers a body that arrives piece by piece. Nothing is visible before `put`. `announcedBytes`: the length that the body
   * will have, if it is known.
   */
  openWriter(announcedBytes?: number): BodyWriter;
  /**
   * Puts a variant in place of the one with the same secondary key. Does nothing when the key was invalidated after the
   * response was requested. Other entries leave for room. What is put is found at once, also while it is on its way to disk.
   */
  put(key: string, response: CachedResponse, options: CacheOptions): void;
  /** Removes this very variant; does nothing when another has replaced it. */
  remove(key: string, response: CachedResponse): void;
  /** Drops every variant, also those requested up to `at` that are still on their way. */
  invalidate(key: string, at: number): void;
  /** Usage of this process. */
  usage(): StoreUsage;
  /** Whether the entry is in memory and as it was when it was found; then this is a use of it. Absent: no place is ever given. */
  readonly isStill?: (place: EntryPlace) => boolean;
  /** Whether the memory of a body that was found is part of `usage`; absent: bodies take none. */
  readonly isCounted?: (body: StoredBody) => boolean;
  /**
   * Usage of the directory, as counted by the worker that maintains it; nothing in the others. Absent without a disk.
   */
  readonly diskUsage?: () => StoreUsage;
}

/** Must be ended by `discard`, also after `finish`. After that, and after `add` returned false, it holds nothing. */
export interface BodyWriter {
  /**
   * Copies the bytes. False: the body is too large, the store has no room for more unfinished bodies, or the disk is too
   * slow. Then the writer is closed.
   */
  add(chunk: Buffer): boolean;
  /** Where the bytes of the last `add` lie in memory, for those that read along; empty: only a file has them. */
  readonly pieces: readonly Buffer[];
  /** What must be held to use `pieces` after the current turn; `undefined`: nothing, their memory is not used again. */
  readonly memory: StoredBody | undefined;
  /** Resolves when the disk has caught up: for those who have nobody waiting. `undefined`: it has. */
  readonly drained?: () => Promise<void> | undefined;
  readonly isOpen: boolean;
  readonly sizeBytes: number;
  /**
   * Returns the body, which the writer holds until `discard`: it must have been `put` by then, or be held. `undefined` if
   * the writer was closed before. A body on disk that is not `put` within minutes is removed.
   */
  finish(): StoredBody | undefined;
  discard(): void;
}
