/**
 * Memory on top of disk. Responses are put into both; those found on disk are loaded into memory. An entry in memory
 * may lack variants that another worker has stored since, so `findNewer` looks at the disk before the origin is asked.
 */
import type { CacheOptions } from '#http/options.ts';
import type { DiskStore } from './disk/disk.ts';
import { DiskBody } from './disk/disk-body.ts';
import { FileBody } from './file-body.ts';
import type { MemoryStore } from './memory.ts';
import { isSameResponse } from './same-response.ts';
import type {
  CachedResponse,
  CacheEntry,
  CacheStore,
  EntryPlace,
  StoredBody,
  StoreRefusal,
  StoreUsage,
} from './store.ts';
import { GatheringWriter } from './writer.ts';

/** Limit of a body that is gathered in memory, however little memory the store has. */
const MIN_GATHER_BYTES = 32 * 1024;
/** Minimum budget of all bodies that are gathered at once. */
const MIN_BUDGET_BYTES = 8 * 1024 * 1024;

export interface TieredStoreOptions {
  readonly memory: MemoryStore;
  readonly disk: DiskStore;
}

export class TieredStore implements CacheStore {
  readonly maxBodyBytes: number;
  readonly #memory: MemoryStore;
  readonly #disk: DiskStore;
  readonly #budget: { leftBytes: number };

  constructor({ memory, disk }: TieredStoreOptions) {
    this.#memory = memory;
    this.#disk = disk;
    this.maxBodyBytes = Math.max(memory.maxBodyBytes, disk.maxBodyBytes);
    // Invalidations by other workers apply to this one's memory too.
    disk.invalidations.onInvalidated = ({ hash, at }) => memory.invalidateHash(hash, at);
    this.#budget = { leftBytes: Math.max(MIN_BUDGET_BYTES, memory.maxBodyBytes * 4) };
  }

  find(key: string): Promise<CacheEntry | undefined> | CacheEntry | undefined {
    this.#disk.invalidations.hear();
    const entry = this.#memory.find(key);
    if (entry !== undefined && entry.variants.length > 0) return entry;
    const found = this.#disk.find(key);
    if (found instanceof Promise) return this.#join(key, found, undefined);
    const invalidatedAt = latest(found?.invalidatedAt, entry?.invalidatedAt);
    return invalidatedAt === undefined ? undefined : { variants: [], invalidatedAt };
  }

  findNewer(key: string, found: CacheEntry | undefined): Promise<CacheEntry | undefined> | undefined {
    if (found === undefined) return undefined;
    // If memory has no entry, `found` was just read from the disk.
    const inMemory = this.#memory.find(key);
    if (inMemory === undefined || inMemory.variants.length === 0) return undefined;
    const newer = this.#disk.find(key);
    return newer instanceof Promise ? this.#join(key, newer, found) : undefined;
  }

  refuses(bodyBytes: number | undefined): StoreRefusal | undefined {
    const fitsMemory = bodyBytes === undefined || bodyBytes <= this.#memory.maxBodyBytes;
    return fitsMemory && this.#memory.maxBodyBytes > 0 ? undefined : this.#disk.refuses(bodyBytes);
  }

  openWriter(announcedBytes?: number) {
    return new GatheringWriter({
      maxBodyBytes: this.maxBodyBytes,
      maxMemoryBytes: Math.max(MIN_GATHER_BYTES, this.#memory.maxBodyBytes),
      maxCopiedBytes: MIN_GATHER_BYTES,
      pool: this.#memory.pool,
      budget: this.#budget,
      announcedBytes,
      openSpill: () => this.#disk.openSpill(),
    });
  }

  put(key: string, response: CachedResponse, options: CacheOptions): void {
    this.#disk.invalidations.hear();
    this.#memory.put(key, this.#withFileBody(key, response), options);
    const { body } = response;
    this.#disk.put(key, body instanceof FileBody ? { ...response, body: body.file } : response, options);
  }

  remove(key: string, response: CachedResponse): void {
    this.#memory.remove(key, response);
    this.#disk.remove(key, response);
  }

  invalidate(key: string, at: number): void {
    this.#memory.invalidate(key, at);
    this.#disk.invalidate(key, at);
  }

  usage(): StoreUsage {
    return this.#memory.usage();
  }

  readonly isStill = (place: EntryPlace): boolean => {
    this.#disk.invalidations.hear();
    return this.#memory.isStill(place);
  };

  readonly isCounted = (body: StoredBody): boolean => this.#memory.isCounted(body);

  readonly diskUsage = (): StoreUsage => this.#disk.usage();

  [Symbol.asyncDispose](): Promise<void> {
    return this.#disk[Symbol.asyncDispose]();
  }

  /**
   * Merges the entries on disk and in memory. Returns `undefined` if there is nothing, or nothing newer than `seen`.
   */
  async #join(
    key: string,
    onDisk: Promise<CacheEntry | undefined>,
    seen: CacheEntry | undefined,
  ): Promise<CacheEntry | undefined> {
    const found = await onDisk;
    this.#disk.invalidations.hear();
    const inMemory = this.#memory.find(key);
    const present = inMemory?.variants ?? [];
    const variants = newest(present, found?.variants ?? []);
    const isNewer = variants.some((variant) => !present.includes(variant));
    const invalidatedAt = latest(found?.invalidatedAt, inMemory?.invalidatedAt);
    if (isNewer) {
      const promoted = variants.map((variant) => this.#withFileBody(key, variant));
      this.#memory.load(key, promoted);
      return { variants: promoted, invalidatedAt };
    }
    if (seen !== undefined) return undefined;
    return variants.length === 0 && invalidatedAt === undefined ? undefined : { variants, invalidatedAt };
  }

  /** Wraps a body in a file so that it is loaded into memory at its first use, if memory may hold it. */
  #withFileBody(key: string, response: CachedResponse): CachedResponse {
    const { body } = response;
    if (!(body instanceof DiskBody)) return response;
    const mayLoad = body.sizeBytes <= this.#memory.maxBodyBytes;
    const held = new FileBody(body, {
      openWriter: mayLoad ? (sizeBytes) => this.#memory.openWriter(sizeBytes) : undefined,
      onLost: (lost) => {
        const variant = this.#memory.find(key)?.variants.find((each) => each.body === lost);
        if (variant !== undefined) this.#memory.remove(key, variant);
      },
    });
    return { ...response, body: held };
  }
}

/** Merges two lists. If both have a variant, the later response counts. */
function newest(present: readonly CachedResponse[], found: readonly CachedResponse[]): readonly CachedResponse[] {
  const isLater = (variant: CachedResponse, others: readonly CachedResponse[], orSame: boolean) => {
    const other = others.find(
      ({ vary, varyKey }) => varyKey === variant.varyKey && String(vary) === String(variant.vary),
    );
    if (other === undefined) return true;
    return isSameResponse(variant, other)
      ? orSame
      : variant.responseAt > other.responseAt || (orSame && variant.responseAt === other.responseAt);
  };
  return [
    ...found.filter((variant) => isLater(variant, present, false)),
    ...present.filter((variant) => isLater(variant, found, true)),
  ];
}

function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
