/**
 * What the cache store does in a second, one process, files in the system's page cache: putting and reading objects of several
 * sizes on disk, looking up small ones in memory; and the memory that a small object takes beside its body.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { DiskStore } from '../src/edge/store/disk/disk.ts';
import { MemoryStore } from '../src/edge/store/memory.ts';
import type { CacheStore } from '../src/edge/store/store.ts';
import { DEFAULT_CACHE_OPTIONS } from '../src/sites/cache-options.ts';
import { sampleHead } from '../test/support/edge/stored.ts';

const MIB = 2 ** 20;
const CHUNK = Buffer.alloc(65_536, 'x');
/** Readers at once. */
const READERS = 8;

for (const [size, count] of [
  [1024, 5_000],
  [100 * 1024, 2_000],
  [MIB, 500],
  [100 * MIB, 5],
] as const) {
  const directory = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  try {
    await using store = new DiskStore({
      directory,
      maxBytes: 4096 * MIB,
      onProblem: (problem) => console.log(problem),
    });
    const putSeconds = await seconds(() => fill(store, size, count));
    const readSeconds = await seconds(() => readAll(store, count));
    const rate = (each: number) => `${Math.round(count / each)}/s, ${Math.round((count * size) / MIB / each)} MiB/s`;
    console.log(`disk, ${size / 1024} KiB: put ${rate(putSeconds)}; read ${rate(readSeconds)}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const memory = new MemoryStore({ maxBytes: 256 * MIB });
const objects = 100_000;
const putSeconds = await seconds(() => fill(memory, 1024, objects));
const findSeconds = await seconds(async () => {
  for (let i = 0; i < objects; i++) memory.find(keyOf(i));
});
const { bytes } = memory.usage();
console.log(
  `memory, 1 KiB: put ${Math.round(objects / putSeconds)}/s; find ${Math.round(objects / findSeconds)}/s; ` +
    `${Math.round(bytes / objects)} bytes per object, ${Math.round(bytes / objects) - 1024} beside its body`,
);

async function fill(store: CacheStore, size: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const writer = store.openWriter();
    for (let left = size; left > 0; left -= CHUNK.length) {
      if (!writer.add(CHUNK.subarray(0, Math.min(left, CHUNK.length)))) throw new Error('not taken');
      await writer.drained?.();
    }
    const body = writer.finish();
    if (body === undefined) throw new Error('not taken');
    store.put(keyOf(i), { ...sampleHead(i), body }, DEFAULT_CACHE_OPTIONS);
    writer.discard();
    if (i % 100 === 99 && store instanceof DiskStore) await store.settle();
    else if (i % 10 === 9) await setImmediate();
  }
  if (store instanceof DiskStore) await store.settle();
}

async function readAll(store: CacheStore, count: number): Promise<void> {
  let next = 0;
  const reader = async () => {
    for (let i = next++; i < count; i = next++) {
      const body = (await store.find(keyOf(i)))?.variants[0]?.body;
      if (body === undefined || (await body.prepare?.()) === false) throw new Error('not found');
      for await (const _piece of body.read({ first: 0, last: body.sizeBytes - 1 }));
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

function keyOf(number: number): string {
  return `1 http www.example.com /images/object-${number}.jpg`;
}
