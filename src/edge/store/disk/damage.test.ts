/** Whatever a cache directory contains, a body is served whole and as written, or not at all. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  cpSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type StoreFolder, storeFolder } from '../../../../test/support/edge/store-folder.ts';
import { MemoryStore } from '../memory.ts';
import type { CacheStore } from '../store.ts';
import { putText, textOf } from '../store-samples.suite.ts';
import { TieredStore } from '../tiered.ts';
import { DiskStore } from './disk.ts';

const SMALL = 'small '.repeat(100);
const LARGE = 'large '.repeat(100_000);

/** Resolves when the contents of the disk have been read. */
async function openDisk({ directory, keep }: StoreFolder): Promise<DiskStore> {
  const store = keep(new DiskStore({ directory, maxBytes: 100_000_000, onProblem: () => undefined }));
  await store.settle();
  return store;
}

/** A directory with one small and one large object, and their files: a segment and a body. */
async function filledDirectory(t: TestContext) {
  const folder = storeFolder(t);
  const { directory } = folder;
  await using store = await openDisk(folder);
  putText(store, 'small', SMALL);
  putText(store, 'large', LARGE);
  await store.settle();
  const [segment = '', ...more] = globSync(join(directory, 'segments-*', '*.segment'));
  const bodies = globSync(join(directory, 'segments-*', 'bodies', '*', '*'));
  assert.deepEqual([more.length, bodies.length], [0, 1]);
  return { folder, directory, segment, bodies };
}

async function read(store: CacheStore, key: string): Promise<string | undefined> {
  return textOf((await store.find(key))?.variants[0]);
}

describe('a cache directory', () => {
  test('a cache directory is found by the next process as it was left', async (t) => {
    const { folder } = await filledDirectory(t);
    const store = await openDisk(folder);
    assert.equal(await read(store, 'small'), SMALL);
    assert.equal(await read(store, 'large'), LARGE);
    await store.settle();
    assert.equal(store.usage().objects, 2);
  });

  test('a segment that is cut anywhere, or has any byte changed, has its objects complete or not at all, also for workers that have read it', async (t) => {
    const { folder, segment } = await filledDirectory(t);
    const whole = readFileSync(segment);
    const before = await openDisk(folder);
    for (let at = 0; at < whole.length; at += 83) {
      for (const torn of [whole.subarray(0, at), changed(whole, at), Buffer.alloc(whole.length)]) {
        writeFileSync(segment, torn);
        const after = await openDisk(folder);
        for (const store of [before, after]) {
          for (const key of ['small', 'large']) {
            const found = (await store.find(key))?.variants[0];
            if (found !== undefined) assert.equal(await textOf(found), key === 'small' ? SMALL : LARGE, `${at}`);
          }
        }
        await after[Symbol.asyncDispose]();
      }
    }
  });

  for (const [what, damage] of [
    ['cut', (file: string) => truncateSync(file, 300_000)],
    ['empty', (file: string) => truncateSync(file, 0)],
    ['gone', (file: string) => rmSync(file)],
    ['changed in its last block', (file: string) => writeFileSync(file, changed(readFileSync(file), 599_000))],
    ['changed in its first block', (file: string) => writeFileSync(file, changed(readFileSync(file), 1_000))],
    ['changed in its header', (file: string) => writeFileSync(file, changed(readFileSync(file), 5))],
  ] as const) {
    test(`a body's file that is ${what} is never served as whole, and then its object is a miss`, async (t) => {
      const { folder, bodies } = await filledDirectory(t);
      for (const file of bodies) damage(file);
      const store = await openDisk(folder);
      await assert.rejects(async () => {
        if ((await read(store, 'large')) === undefined) throw new Error('not readable'); // before the first byte
      });
      assert.equal(await store.find('large'), undefined);
      assert.equal(await read(store, 'small'), SMALL);
    });
  }

  test('a damaged body leaves memory too, so that a second look-up is a miss', async (t) => {
    const { folder, bodies } = await filledDirectory(t);
    for (const file of bodies) writeFileSync(file, changed(readFileSync(file), 300_000));
    for (const memoryBytes of [1_000_000, 100_000_000]) {
      const disk = await openDisk(folder);
      const store = new TieredStore({ memory: new MemoryStore({ maxBytes: memoryBytes }), disk });
      await assert.rejects(async () => {
        if ((await read(store, 'large')) === undefined) throw new Error('not readable');
      });
      assert.equal(await store.find('large'), undefined);
    }
  });

  for (const memoryBytes of [1_000_000, 100_000_000]) {
    test(`a body whose file another worker has removed is a miss (memory: ${memoryBytes / 1_000_000} MB)`, async (t) => {
      const { folder, bodies } = await filledDirectory(t);
      const disk = await openDisk(folder);
      const store = new TieredStore({ memory: new MemoryStore({ maxBytes: memoryBytes }), disk });
      for (const file of bodies) rmSync(file);
      assert.equal(await read(store, 'large'), undefined);
      assert.equal(await store.find('large'), undefined);
    });
  }

  test("a block of another body in a body's place is detected", async (t) => {
    const { folder, bodies } = await filledDirectory(t);
    const other = await filledDirectory(t);
    const [file = ''] = bodies;
    const bytes = readFileSync(file);
    readFileSync(other.bodies[0] ?? '').copy(bytes, 32, 32);
    writeFileSync(file, bytes);
    assert.equal(await read(await openDisk(folder), 'large'), undefined);
  });

  test("a segment under another segment's name has nothing", async (t) => {
    const { folder, segment } = await filledDirectory(t);
    renameSync(segment, join(segment, '..', '0123456789abcdef.segment'));
    const store = await openDisk(folder);
    assert.deepEqual([await store.find('small'), await store.find('large')], [undefined, undefined]);
  });

  test('a cache directory with foreign files in it is still used', async (t) => {
    const { folder, directory, segment, bodies } = await filledDirectory(t);
    for (const name of ['README', '0123456789abcdef', '0123456789abcdef.segment', '.hidden'])
      for (const beside of [segment, bodies[0] ?? '']) writeFileSync(join(beside, '..', name), 'foreign');
    writeFileSync(join(directory, 'unfinished', '1-x'), 'left behind');
    writeFileSync(join(directory, 'unfinished', '999999999-0123456789abcdef'), 'of a process that is gone');
    appendFileSync(segment, 'noise');
    for (const name of ['segments-of-another-time', 'objects-0123456789abcdef'])
      cpSync(join(segment, '..'), join(directory, name), { recursive: true });
    writeFileSync(join(directory, 'journal'), 'of an earlier version');
    const store = await openDisk(folder);
    await store.settle();
    assert.equal(await read(store, 'small'), SMALL);
    assert.equal(await read(store, 'large'), LARGE);
    assert.deepEqual(globSync(join(directory, 'unfinished', '*')).length, 1);
    for (const name of ['segments-of-*', 'objects-*', 'journal*'])
      assert.deepEqual(globSync(join(directory, name)), []);
  });

  for (const what of ['broken', 'gone'] as const) {
    test(`a cache directory whose file of invalidations is ${what} starts empty, and serves again`, async (t) => {
      const { folder, directory } = await filledDirectory(t);
      for (const file of globSync(join(directory, 'invalidations.db*'))) {
        if (what === 'gone') rmSync(file);
        else writeFileSync(file, Buffer.alloc(10_000, 'x'));
      }
      const store = await openDisk(folder);
      assert.equal(await store.find('small'), undefined);
      putText(store, 'small', SMALL);
      assert.equal(await read(store, 'small'), SMALL);
    });
  }
});

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}
