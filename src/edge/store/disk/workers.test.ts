/** Several workers on one directory, and directories that cannot be used. */
import assert from 'node:assert/strict';
import { globSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import { type StoreFolder, storeFolder } from '../../../../test/support/edge/store-folder.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { MemoryStore } from '../memory.ts';
import { wrapBytes } from '../memory-body.ts';
import type { CacheStore } from '../store.ts';
import { putText, storedHead, textOf } from '../store-samples.suite.ts';
import { TieredStore } from '../tiered.ts';
import { DiskStore } from './disk.ts';

function openWorker({ directory, keep }: StoreFolder, maxBytes = 100_000_000) {
  const problems: string[] = [];
  const disk = new DiskStore({ directory, maxBytes, onProblem: (problem) => problems.push(problem) });
  const store = keep(new TieredStore({ memory: new MemoryStore({ maxBytes: 10_000_000 }), disk }));
  return { disk, store, problems };
}

async function read(store: CacheStore, key: string): Promise<string | undefined> {
  return textOf((await store.find(key))?.variants[0]);
}

describe('workers that share a directory', () => {
  for (const size of [10, 100_000, 5_000_000]) {
    test(`workers find the objects of another once they are on disk: ${size} bytes`, async (t) => {
      const folder = storeFolder(t);
      const [a, b] = [openWorker(folder), openWorker(folder)];
      putText(a.store, 'k', 'x'.repeat(size));
      await a.disk.settle();
      assert.equal(await read(b.store, 'k'), 'x'.repeat(size));
    });
  }

  test('workers learn of objects that another has stored before they ask an origin', async (t) => {
    const folder = storeFolder(t);
    const [a, b] = [openWorker(folder), openWorker(folder)];
    putText(a.store, 'k', 'one', { vary: ['x'], varyKey: '1' });
    await a.disk.settle();
    const found = await b.store.find('k');
    assert.equal(await b.store.findNewer('k', found), undefined);
    putText(a.store, 'k', 'two', { vary: ['x'], varyKey: '2' });
    putText(a.store, 'k', 'one again', { vary: ['x'], varyKey: '1', responseAt: 600 });
    await a.disk.settle();
    assert.equal((await b.store.find('k'))?.variants.length, 1);
    const newer = await b.store.findNewer('k', found);
    assert.deepEqual(await Promise.all(newer?.variants.map(textOf) ?? []), ['one again', 'two']);
    assert.equal((await b.store.find('k'))?.variants.length, 2);
  });

  test('workers do not ask the disk for what none of them has put, and ask for it as soon as one has', async (t) => {
    const folder = storeFolder(t);
    const [a, b] = [openWorker(folder), openWorker(folder)];
    await eventually('the folders are read', () => !(b.store.find('k') instanceof Promise));
    assert.equal(b.store.find('k'), undefined);
    putText(a.store, 'k', 'hello');
    const found = await eventually('found', async () => (await b.store.find('k'))?.variants[0]);
    assert.equal(await textOf(found), 'hello');
    a.store.remove('k', found);
    await a.disk.settle();
    await eventually('gone', () => !(b.disk.find('k') instanceof Promise));
  });

  test('workers find what they have put again before its removal was done', async (t) => {
    const { disk } = openWorker(storeFolder(t));
    await eventually('the folders are read', () => !(disk.find('k') instanceof Promise));
    putText(disk, 'k', 'old');
    const found = (await disk.find('k'))?.variants[0];
    assert.ok(found !== undefined);
    disk.remove('k', found);
    putText(disk, 'k', 'new', { requestAt: 2_000 });
    await disk.settle();
    assert.equal(await read(disk, 'k'), 'new');
  });

  test('workers see an invalidation by another at once, in memory too, and nothing undoes it', async (t) => {
    const folder = storeFolder(t);
    const [a, b] = [openWorker(folder), openWorker(folder)];
    putText(a.store, 'k', 'old');
    await a.disk.settle();
    assert.equal(await read(b.store, 'k'), 'old');
    a.store.invalidate('k', 1_000);
    await eventually('seen', async () => (await b.store.find('k'))?.variants.length === 0); // once a millisecond
    putText(b.store, 'k', 'late', { requestAt: 999 });
    await b.disk.settle();
    for (const { store } of [a, b, openWorker(folder)]) {
      assert.deepEqual((await store.find('k'))?.variants, []);
      assert.equal((await store.find('k'))?.invalidatedAt, 1_000);
    }
  });

  test('workers do not bring back an invalidated object while they write another variant', async (t) => {
    const folder = storeFolder(t);
    const [a, b] = [openWorker(folder), openWorker(folder)];
    for (let i = 0; i < 50; i++) {
      const key = `k${i}`;
      putText(a.store, key, 'old', { vary: ['x'], varyKey: '1' });
      await a.disk.settle();
      putText(b.store, key, 'also old', { vary: ['x'], varyKey: '2' });
      a.store.invalidate(key, 1_000);
      await Promise.all([a.disk.settle(), b.disk.settle()]);
      assert.deepEqual((await openVariants(folder, key)).length, 0);
    }
  });

  test('one worker keeps the directory within its limit, whoever fills it; another does when that one is gone', async (t) => {
    const folder = storeFolder(t);
    const [a, b] = [openWorker(folder, 1_000_000), openWorker(folder, 1_000_000)];
    await a.disk.settle();
    for (let i = 0; i < 200; i++) putText(b.store, `k${i}`, 'x'.repeat(20_000 + i));
    await b.disk.settle(); // its responses are in its segments
    await a.disk.settle();
    assert.ok(diskBytes(folder.directory) <= 1_000_000, `${diskBytes(folder.directory)}`);
    assert.ok(a.disk.usage().objects > 30);
    await a.store[Symbol.asyncDispose]();
    const next = openWorker(folder, 500_000);
    await next.disk.settle();
    assert.ok(diskBytes(folder.directory) <= 500_000, `${diskBytes(folder.directory)}`);
  });

  test('bodies that lost a race are removed, and objects that are being read stay readable', async (t) => {
    const folder = storeFolder(t);
    const a = openWorker(folder);
    putText(a.store, 'k', 'x'.repeat(9_000_000));
    await a.disk.settle();
    const b = openWorker(folder);
    await b.disk.settle(); // the contents of the disk have been read
    const found = (await b.store.find('k'))?.variants[0];
    const pieces: Buffer[] = [];
    for await (const piece of found?.body.read({ first: 0, last: 8_999_999 }) ?? []) {
      if (pieces.length === 0) a.store.invalidate('k', 1_000);
      await a.disk.settle();
      pieces.push(piece);
    }
    assert.equal(Buffer.concat(pieces).toString(), 'x'.repeat(9_000_000));
    assert.deepEqual(globSync(join(folder.directory, 'segments-*', 'bodies', '*', '*')), []);
  });
});

test('the body of a new key is copied when it is put', async (t) => {
  const { disk } = openWorker(storeFolder(t));
  const bytes = Buffer.from('hello');
  disk.put('k', { ...storedHead(), body: wrapBytes(bytes) }, DEFAULT_CACHE_OPTIONS);
  bytes.fill(0);
  await disk.settle();
  assert.equal(await read(disk, 'k'), 'hello');
});

describe('a directory that cannot be used', () => {
  test('an unusable directory is no disk at all: memory serves, larger bodies are refused with a reason', async (t) => {
    const folder = storeFolder(t);
    const file = join(folder.directory, 'a-file');
    writeFileSync(file, '');
    const { store, problems } = openWorker({ ...folder, directory: join(file, 'cache') });
    putText(store, 'k', 'in memory');
    assert.equal(await read(store, 'k'), 'in memory');
    assert.equal(await store.find('l'), undefined);
    assert.equal(store.refuses(1_000), undefined);
    assert.equal(store.refuses(5_000_000), 'storeError');
    const writer = store.openWriter();
    assert.equal(writer.add(Buffer.alloc(5_000_000)), false);
    store.invalidate('k', 1_000);
    assert.deepEqual((await store.find('k'))?.variants, []);
    assert.ok(problems.includes('storeError'));
  });

  test('a directory that is removed during use is made anew', async (t) => {
    const folder = storeFolder(t);
    const directory = join(folder.directory, 'cache');
    mkdirSync(directory);
    const { disk } = openWorker({ ...folder, directory });
    putText(disk, 'k', 'before');
    await disk.settle();
    rmSync(directory, { recursive: true });
    assert.equal(await disk.find('k'), undefined);
    await eventually('stored again', async () => {
      putText(disk, 'k', 'after');
      return (await read(disk, 'k')) === 'after';
    });
  });

  test('a directory that comes back is used again', async (t) => {
    const folder = storeFolder(t);
    const parent = join(folder.directory, 'mount');
    writeFileSync(parent, '');
    const { disk } = openWorker({ ...folder, directory: join(parent, 'cache') });
    putText(disk, 'k', 'lost');
    assert.equal(await disk.find('k'), undefined);
    rmSync(parent);
    await eventually('used', async () => {
      putText(disk, 'k', 'found');
      return (await read(disk, 'k')) === 'found';
    });
  });
});

async function openVariants(folder: StoreFolder, key: string) {
  const { store, disk } = openWorker(folder);
  await disk.settle(); // the contents of the disk have been read
  return (await store.find(key))?.variants ?? [];
}

function diskBytes(directory: string): number {
  const files = globSync(join(directory, 'segments-*', '**')).map((path) => statSync(path));
  return files.reduce((sum, file) => sum + (file.isFile() ? file.blocks * 512 : 0), 0);
}
