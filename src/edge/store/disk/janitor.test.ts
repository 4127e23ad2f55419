import assert from 'node:assert/strict';
import { globSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { type StoreFolder, storeFolder } from '../../../../test/support/edge/store-folder.ts';
import { putText, storedHead, textOf } from '../store-samples.suite.ts';
import { DiskStore } from './disk.ts';
import { Janitor } from './janitor.ts';
import { OpenBodies } from './open-bodies.ts';
import { Volume } from './volume.ts';

const [K, L] = ['abc0000000000001', 'abc0000000000002'] as const;
const MB = 1_000_000;

function openVolume({ directory, keep }: StoreFolder, maxBytes: number): Volume {
  const onProblem = (problem: unknown) => assert.fail(String(problem));
  const volume = new Volume({ directory, maxBytes, files: new OpenBodies(), onProblem });
  keep({ [Symbol.asyncDispose]: () => volume.close() });
  return volume;
}

async function openJanitor({ keep }: StoreFolder, volume: Volume, maxBytes: number): Promise<Janitor> {
  const janitor = new Janitor(volume, maxBytes);
  keep({ [Symbol.asyncDispose]: async () => janitor.close() });
  await volume.segments.filled();
  return janitor;
}

async function write(volume: Volume, hash: string, text: string): Promise<void> {
  const inline = [Buffer.from(text)];
  const variant = { head: storedHead(), bodyId: '', bodyBytes: text.length, inline };
  assert.ok(volume.writeEntry(hash, hash, [variant]));
  await volume.segments.flush();
}

function usedBytes(directory: string): number {
  const files = globSync(join(directory, 'segments-*', '**')).map((path) => statSync(path));
  return files.reduce((sum, file) => sum + (file.isFile() ? file.blocks * 512 : 0), 0);
}

describe('the worker that looks after a cache directory', () => {
  test('the limit holds for bodies in files too, and files go with their entries', async (t) => {
    const folder = storeFolder(t);
    const onProblem = (problem: string) => assert.fail(problem);
    const store = folder.keep(new DiskStore({ directory: folder.directory, maxBytes: 4 * MB, onProblem }));
    const text = (i: number) => `${i} `.padEnd(300_000, 'x');
    for (let i = 0; i < 40; i++) {
      putText(store, `k${i}`, text(i));
      putText(store, `small${i}`, `${i}`);
      await store.settle();
      assert.ok(usedBytes(folder.directory) <= 4 * MB, `${usedBytes(folder.directory)}`);
    }
    const found = [];
    for (let i = 0; i < 40; i++) {
      const [variant] = (await store.find(`k${i}`))?.variants ?? [];
      if (variant === undefined) continue;
      assert.equal(await textOf(variant), text(i));
      found.push(i);
    }
    assert.ok(found.length >= 10 && found.length <= 13, `${found}`);
    assert.equal(found.at(-1), 39);
    assert.equal(globSync(join(folder.directory, 'segments-*', 'bodies', '*', '*')).length, found.length);
  });

  test('entries in use outlive the others, and the limit holds while they are copied on', async (t) => {
    const folder = storeFolder(t);
    const onProblem = (problem: string) => assert.fail(problem);
    const store = folder.keep(new DiskStore({ directory: folder.directory, maxBytes: 1 * MB, onProblem }));
    const hot = Array.from({ length: 20 }, (_, i) => `hot${i}`);
    for (const key of hot) putText(store, key, key.padEnd(10_000, 'x'));
    for (let i = 0; i < 200; i++) {
      putText(store, `cold${i}`, 'x'.repeat(10_000));
      if (i % 5 > 0) continue;
      await store.settle();
      for (const key of hot) await store.find(key);
      await store.settle();
      assert.ok(usedBytes(folder.directory) <= 1 * MB, `${usedBytes(folder.directory)}`);
    }
    for (const key of hot) assert.equal(await textOf((await store.find(key))?.variants[0]), key.padEnd(10_000, 'x'));
    assert.equal(await store.find('cold0'), undefined);
  });

  test('many segments leave in one tick, however long the turns of the event loop are', async (t) => {
    const folder = storeFolder(t);
    const volume = openVolume(folder, 1 * MB);
    const janitor = await openJanitor(folder, volume, 1 * MB);
    const keys = Array.from({ length: 200 }, (_, i) => i.toString(16).padStart(16, '0'));
    for (const key of keys) await write(volume, key, 'x'.repeat(8_000));
    const before = volume.segments.count;
    const slow = setInterval(() => {
      for (const until = performance.now() + 10; performance.now() < until; );
    }, 1);
    t.after(() => clearInterval(slow));
    await janitor.tick(0);
    assert.ok(volume.segments.count <= before - 8, `${before - volume.segments.count}`);
  });

  test('bodies without an entry are removed once they are twenty seconds old', async (t) => {
    const folder = storeFolder(t);
    const volume = openVolume(folder, 10 * MB);
    const janitor = await openJanitor(folder, volume, 10 * MB);
    await write(volume, K, 'small');
    for (const hash of [K, L]) {
      const path = volume.bodyPath(hash, '0000000000000001');
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'x');
      utimesSync(path, 1, 1);
    }
    const bodies = () => globSync(join(folder.directory, 'segments-*', 'bodies', '*', '*')).length;
    await janitor.tick(0);
    assert.equal(bodies(), 2); // they are young
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 21_000 });
    await janitor.tick(250); // at once, since there are such bodies
    assert.equal(bodies(), 0);
  });

  test('bodies without an entry count for the limit until they are removed', async (t) => {
    const folder = storeFolder(t);
    const volume = openVolume(folder, 4 * MB);
    const janitor = await openJanitor(folder, volume, 4 * MB);
    for (let i = 0; i < 15; i++) await write(volume, `abc000000000010${i.toString(16)}`, 'x'.repeat(200_000));
    await janitor.tick(0);
    assert.equal(volume.segments.entries, 15);
    for (let i = 0; i < 3; i++) {
      const path = volume.bodyPath(`${i}bc0000000000002`, '0000000000000001');
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, Buffer.alloc(800_000));
    }
    // Each tick sweeps one folder.
    for (let i = 1; i <= 6; i++) await janitor.tick(i * 3_000);
    assert.ok(usedBytes(folder.directory) <= 4 * MB, `${usedBytes(folder.directory)}`);
  });

  test('an invalidation is forgotten when no worker has an older entry any more, also one that the janitor does not know', async (t) => {
    const folder = storeFolder(t);
    const a = openVolume(folder, 10 * MB);
    const b = openVolume(folder, 10 * MB);
    await write(b, K, 'old');
    a.segments.follow(1);
    a.segments.forget(K, a.segments.find(K) ?? assert.fail()); // as if it could not be read
    const janitor = await openJanitor(folder, a, 10 * MB);
    a.invalidations.record(K, 1_000);
    await janitor.tick(0);
    assert.equal(a.invalidations.at(K), 1_000);
    b.segments.follow(2);
    assert.equal(b.segments.find(K), undefined);
    await janitor.tick(20_000);
    assert.equal(a.invalidations.at(K), undefined);
  });
});
