/** The memory tier: least recently used keys leave when the byte limit is reached. */
import { putVariant } from '#http/variants.ts';
import { Lru } from '#lib/lru.ts';
import type { CachedResponse, CacheEntry, CacheStore } from './store.ts';
import { createWriter, type WriterBudget } from './writer.ts';

export interface MemoryStoreOptions {
  /** Bodies, heads and keys together, as far as they can be counted. */
  readonly maxBytes: number;
}

/** One object may take this part of the store, and never more than `MAX_BODY_BYTES`. */
const MAX_SHARE = 1 / 4;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** What the engine spends on an entry besides its texts: an estimate on the high side. */
const ENTRY_BYTES = 500;
const VARIANT_BYTES = 1_000;
/** A text and its header in V8. */
const TEXT_BYTES = 24;

export function createMemoryStore({ maxBytes }: MemoryStoreOptions): CacheStore {
  const maxBodyBytes = Math.min(MAX_BODY_BYTES, Math.floor(maxBytes * MAX_SHARE));
  // Bodies on their way in are counted apart, so that they cannot double the memory that was allowed.
  const budget: WriterBudget = { leftBytes: Math.floor(maxBytes * MAX_SHARE) };
  let objects = 0;
  const entries = new Lru<string, WeighedEntry>({
    maxWeight: maxBytes,
    weigh: ({ weight }) => weight,
    onEvict: (_key, { variants }) => {
      objects -= variants.length;
    },
  });

  const replace = (key: string, entry: CacheEntry): void => {
    objects -= entries.get(key)?.variants.length ?? 0;
    if (entry.variants.length === 0 && entry.invalidatedAt === undefined) {
      entries.delete(key);
      return;
    }
    objects += entry.variants.length;
    const isKept = entries.set(key, { ...entry, weight: weighEntry(key, entry) });
    if (!isKept) objects -= entry.variants.length;
  };

  return {
    maxBodyBytes,
    find: (key) => entries.get(key),
    findNewer: () => undefined,
    refuses: () => undefined,
    openWriter: () => createWriter({ maxBodyBytes, maxMemoryBytes: maxBodyBytes, budget, openSpill: () => undefined }),
    put: (key, response, options) => {
      const entry = entries.get(key) ?? EMPTY;
      if (entry.invalidatedAt !== undefined && response.requestAt <= entry.invalidatedAt) return;
      const { variants } = putVariant(entry.variants, response, options);
      replace(key, { variants, invalidatedAt: entry.invalidatedAt });
    },
    remove: (key, response) => {
      const entry = entries.get(key);
      if (entry === undefined || !entry.variants.includes(response)) return;
      const variants = entry.variants.filter((variant) => variant !== response);
      replace(key, { variants, invalidatedAt: entry.invalidatedAt });
    },
    invalidate: (key, at) => replace(key, { variants: [], invalidatedAt: at }),
    usage: () => ({ bytes: entries.weight, objects }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

interface WeighedEntry extends CacheEntry {
  readonly weight: number;
}

const EMPTY: CacheEntry = { variants: [], invalidatedAt: undefined };

function weighEntry(key: string, { variants }: CacheEntry): number {
  return variants.reduce((sum, variant) => sum + weighVariant(variant), ENTRY_BYTES + key.length);
}

function weighVariant({ body, headers, varyKey, varyHeaders }: CachedResponse): number {
  let weight = VARIANT_BYTES + body.sizeBytes + varyKey.length;
  for (const text of headers) weight += TEXT_BYTES + text.length;
  for (const text of varyHeaders) weight += TEXT_BYTES + text.length;
  return weight;
}
