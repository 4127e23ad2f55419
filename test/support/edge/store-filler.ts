/**
 * Fills a cache directory without end, to be killed: `store-filler.ts <directory> <seed>`. Objects of all sizes under keys that
 * other fillers use too, some invalidated, some with a new head; the ETag of each is the hash of its body.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { openStore } from '../../../src/edge/store/open.ts';
import type { CacheStore } from '../../../src/edge/store/store.ts';
import { DEFAULT_CACHE_OPTIONS } from '../../../src/sites/cache-options.ts';
import { overwrite } from './overwrite.ts';
import { sampleHead } from './stored.ts';

export const FILLER_KEYS = 300;
const MIB = 2 ** 20;
const CHUNK_BYTES = 50_000;
/** Inline, in a file of one block, of some blocks, and too large for memory. */
const SIZES = [0, 1, 1_000, 32_768, 40_000, 300_000, 1_500_000, 5_000_000];

if (import.meta.main) {
  const [, , directory = '', seed = '1'] = process.argv;
  const store = openStore({
    onFreed: overwrite,
    memoryBytes: 8 * MIB,
    directory,
    diskBytes: 200 * MIB,
    onProblem: () => undefined,
  });
  for (let round = Number(seed); ; round++) {
    await Promise.all([fill(store, round * 7), fill(store, round * 11), change(store, round * 13)]);
    process.stdout.write('.');
  }
}

async function fill(store: CacheStore, number: number): Promise<void> {
  const key = `k${number % FILLER_KEYS}`;
  const size = SIZES[number % SIZES.length] ?? 0;
  const content = Buffer.alloc(size, randomBytes(1 + (number % 1_000)));
  const writer = store.openWriter();
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    if (!writer.add(content.subarray(at, at + CHUNK_BYTES))) return;
    await writer.drained?.();
    await setImmediate(); // others' turn
  }
  const body = writer.finish();
  if (body === undefined) return;
  const now = Date.now();
  const etag = createHash('sha256').update(content).digest('hex');
  const vary = number % 3 === 0 ? { vary: ['x'], varyKey: String(number % 5) } : {};
  store.put(
    key,
    { ...sampleHead(number), etag, requestAt: now, responseAt: now, ...vary, body },
    DEFAULT_CACHE_OPTIONS,
  );
  writer.discard();
}

async function change(store: CacheStore, number: number): Promise<void> {
  const key = `k${number % FILLER_KEYS}`;
  const found = await store.find(key);
  const variant = found?.variants[0];
  if (number % 5 === 0) store.invalidate(key, Date.now());
  else if (variant !== undefined) store.put(key, { ...variant, responseAt: Date.now() }, DEFAULT_CACHE_OPTIONS);
}
