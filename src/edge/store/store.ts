/** What the edge needs of a cache store. `memory.ts` is the one today; another runs the same suite (`store.suite.ts`). */
import type { CacheOptions } from '#http/options.ts';
import type { ByteSpan } from '#http/range.ts';
import type { Stored } from '#http/stored.ts';
import type { Variants } from '#http/variants.ts';

/** A complete stored response: its head, and a handle on its body. Immutable. */
export interface CachedResponse extends Stored {
  readonly body: StoredBody;
}

export interface StoredBody {
  readonly sizeBytes: number;
  /** The bytes of the span in order, in pieces. Stays readable when the response has left the store meanwhile. */
  read(span: ByteSpan): Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Everything under one cache key. */
export interface CacheEntry {
  readonly variants: Variants<CachedResponse>;
  /** What was requested at or before this instant is absent; `undefined`: never invalidated. */
  readonly invalidatedAt: number | undefined;
}

export interface CacheStore {
  /** Larger bodies are not taken. */
  readonly maxBodyBytes: number;
  find(key: string): Promise<CacheEntry | undefined> | CacheEntry | undefined;
  /** Gathers a body that arrives piece by piece. Nothing is visible before `finish`. */
  openWriter(): BodyWriter;
  /**
   * Puts a variant in place of the one with the same secondary key. Does nothing when the key was invalidated after the
   * response was requested. Other entries leave for room.
   */
  put(key: string, response: CachedResponse, options: CacheOptions): void;
  /** Removes this very variant; does nothing when another has replaced it. */
  remove(key: string, response: CachedResponse): void;
  /** Drops every variant, also those requested up to `at` that are still on their way. */
  invalidate(key: string, at: number): void;
  usage(): { readonly bytes: number; readonly objects: number };
}

/** Ends with exactly one of `finish` and `discard`; after that, and after `add` gave false, it holds no memory. */
export interface BodyWriter {
  /** False: too large, or the store has no room for more unfinished bodies. Then it is over. */
  add(chunk: Buffer): boolean;
  readonly isOpen: boolean;
  readonly sizeBytes: number;
  /** `undefined` when it was over before. */
  finish(): StoredBody | undefined;
  discard(): void;
}
