/**
 * The interface of cache stores: `memory.ts`, `disk/disk.ts`, and `tiered.ts`, which is one on top of the other. All
 * run the same suite (`store.suite.ts`).
 */
import type { CacheOptions } from '#http/options.ts';
import type { ByteSpan } from '#http/range.ts';
import type { Stored } from '#http/stored.ts';
import type { Variants } from '#http/variants.ts';

/** A complete stored response: its head, and a handle on its body. Immutable. */
export interface CachedResponse extends Stored {
  readonly body: StoredBody;
  /** Whether its look-up read it from the disk. Not kept in memory. */
  readonly isFromDisk?: boolean;
  /**
   * Place in memory. Set only if the request's key and `Accept-Encoding` alone selected it among the key's variants.
   */
  readonly place?: EntryPlace;
}

/** Identifies the state of a key's entry in memory. */
export interface EntryPlace {
  readonly slot: number;
  readonly version: number;
}

/** Ends a hold. Further calls have no effect. */
export type Release = () => void;

/** Bytes in memory that are reused for another body once nothing holds them. docs/decisions/0565 */
export interface Holdable {
  /** Keeps the bytes in place, even if they leave the store. Returns `undefined` if they are gone. */
  hold(): Release | undefined;
}

export interface StoredBody extends Holdable {
  readonly sizeBytes: number;
  /**
   * Returns the bytes of the span in order. A reader must hold the body until it has finished with the last piece,
   * which includes a socket that has not sent it. Throws if nothing holds the body, or if the bytes on disk are gone or
   * damaged: the answer must then be cut.
   */
  read(span: ByteSpan): Iterable<Buffer> | AsyncIterable<Buffer>;
  /**
   * The whole body in memory, readable without a hold until the end of the current turn of the event loop. `undefined`
   * or absent if it must be read.
   */
  readonly inMemory?: readonly Buffer[] | undefined;
  /**
   * Must be awaited before the first byte of an answer is sent. False if the body is gone or damaged and its variant
   * was removed: look the key up again. Absent if the body is in memory.
   */
  readonly prepare?: () => Promise<boolean>;
  /** Whether the bytes must be read from the disk. Absent if they are in memory. */
  readonly isOnDisk?: boolean;
  /**
   * Counts the body as the memory tier's until released. Returns `undefined` if its bytes are gone. Absent if the
   * memory tier needs a copy.
   */
  readonly keep?: () => Release | undefined;
  /** Memory that the body uses now; if absent, its size. */
  readonly heldBytes?: number;
  /** Additional memory of each reader, for pieces from the disk that are not shared; absent if none. */
  readonly readerBytes?: number;
}

/** Everything under one cache key. */
export interface CacheEntry {
  readonly variants: Variants<CachedResponse>;
  /**
   * Epoch milliseconds. Responses requested at or before this instant are absent; `undefined` if the key was never
   * invalidated, or long ago.
   */
  readonly invalidatedAt: number | undefined;
}

/** Why a store takes nothing: the disk is full, or its directory cannot be used. */
export type StoreRefusal = 'storeFull' | 'storeError';

export interface StoreUsage {
  readonly bytes: number;
  /** Number of variants in memory, or of keys on disk. */
  readonly objects: number;
}

export interface CacheStore extends AsyncDisposable {
  /** Limit of a body; larger ones are not taken. */
  readonly maxBodyBytes: number;
  find(key: string): Promise<CacheEntry | undefined> | CacheEntry | undefined;
  /**
   * Returns the entry that another worker has stored since `found`, before a request that `found` cannot answer goes to
   * the origin. `undefined` if there is nothing newer.
   */
  findNewer(key: string, found: CacheEntry | undefined): Promise<CacheEntry | undefined> | undefined;
  /** Returns why a body of this size (`undefined`: unknown) would not be taken now; `undefined` if it would. */
  refuses(bodyBytes: number | undefined): StoreRefusal | undefined;
  /**
   * Gathers a body that arrives piece by piece. Nothing is visible before `put`. `announcedBytes` is its size, if
   * known.
   */
  openWriter(announcedBytes?: number): BodyWriter;
  /**
   * Puts a variant in place of the one with the same secondary key, evicting other entries for room. No effect if the
   * key was invalidated after the response was requested. The variant is found at once, also while it is being written
   * to disk.
   */
  put(key: string, response: CachedResponse, options: CacheOptions): void;
  /** Removes this very variant. No effect if another has replaced it. */
  remove(key: string, response: CachedResponse): void;
  /** Drops all variants requested up to `at`, including those that are still in flight. */
  invalidate(key: string, at: number): void;
  /** Usage of this process. */
  usage(): StoreUsage;
  /**
   * Whether the entry is in memory and unchanged since it was found; if so, this counts as a use. Absent if the store
   * never sets `place`.
   */
  readonly isStill?: (place: EntryPlace) => boolean;
  /** Whether the memory of a found body is part of `usage`. Absent if bodies use none. */
  readonly isCounted?: (body: StoredBody) => boolean;
  /** Usage of the directory, as counted by its janitor; zero in other workers. Absent without a disk. */
  readonly diskUsage?: () => StoreUsage;
}

/** Must be ended by `discard`, also after `finish`. Afterwards, or after `add` returned false, it holds nothing. */
export interface BodyWriter {
  /**
   * Copies the bytes. Returns false, and closes the writer, if the body is too large, the store has no room for more
   * unfinished bodies, or the disk is too slow.
   */
  add(chunk: Buffer): boolean;
  /** The bytes of the last `add` in memory, for readers that read along; empty if only a file has them. */
  readonly pieces: readonly Buffer[];
  /**
   * Memory that must be held to use `pieces` after the current turn of the event loop; `undefined` if it is not reused.
   */
  readonly memory: StoredBody | undefined;
  /**
   * Returns a promise that resolves when the disk has caught up, for callers without a waiting client; `undefined` if
   * it has.
   */
  readonly drained?: () => Promise<void> | undefined;
  readonly isOpen: boolean;
  readonly sizeBytes: number;
  /**
   * Returns the body, which the writer holds until `discard`: it must have been `put` or be held by then. `undefined`
   * if the writer is closed. A body on disk that is not `put` within minutes is removed.
   */
  finish(): StoredBody | undefined;
  discard(): void;
}
