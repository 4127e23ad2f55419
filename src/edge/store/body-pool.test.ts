import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import { overwrite } from '../../../test/support/edge/overwrite.ts';
import { BodyPool } from './body-pool.ts';
import { MemoryStore } from './memory.ts';
import { Pages } from './pages.ts';
import type { PooledBody } from './pooled-body.ts';
import type { Release } from './store.ts';
import { putText, readAll, storedHead, textOf } from './store-samples.suite.ts';

const MB = 1_000_000;
const MAX_PAGES = 6;

function openPool() {
  const pages = new Pages(200_000); // of 8 KiB
  let orphansFreed = 0;
  const pool: BodyPool = new BodyPool({
    pages,
    makeRoom: () => {
      if (pool.bytes >= MAX_PAGES * pages.sizeBytes) return false;
      pool.addPage();
      return true;
    },
    onOrphanFreed: () => {
      orphansFreed += 1;
    },
    onFreed: overwrite,
  });
  return { pool, orphansFreed: () => orphansFreed };
}

interface Kept {
  readonly body: PooledBody;
  readonly bytes: Buffer;
  keep: Release | undefined;
  hold: Release | undefined;
  /** Bytes that a reader has, since it holds the body. */
  pieces: readonly Buffer[] | undefined;
}

describe('the pool of bodies', () => {
  test('every body that is kept or held has its own bytes, whatever is freed and moved meanwhile', () => {
    const step = fc.record({
      what: fc.constantFrom('add', 'add', 'add', 'hold', 'release', 'drop', 'giveBack'),
      which: fc.nat({ max: 11 }),
      size: fc.integer({ min: 1, max: 12_000 }),
      chunk: fc.integer({ min: 100, max: 5_000 }),
      isAnnounced: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 120 }), (steps) => {
        const { pool } = openPool();
        const bodies = new Map<number, Kept>();
        for (const [index, { what, which, size, chunk, isAnnounced }] of steps.entries()) {
          const there = bodies.get(which);
          if (what === 'add' && there === undefined) {
            const added = add(pool, Buffer.alloc(size, index + 1), chunk, isAnnounced ? size : 0);
            if (added !== undefined) bodies.set(which, added);
          }
          if (what === 'hold' && there !== undefined) {
            there.hold ??= there.body.hold();
            there.pieces ??= there.body.inMemory;
          }
          if (what === 'release') there?.hold?.();
          if (what === 'release' && there !== undefined) there.hold = there.pieces = undefined;
          if (what === 'drop') there?.keep?.();
          if (what === 'drop' && there !== undefined) there.keep = undefined;
          if (there !== undefined && there.keep === undefined && there.hold === undefined) bodies.delete(which);
          if (what === 'giveBack') {
            const before = pool.bytes;
            if (pool.giveBackPage()) assert.equal(pool.bytes, before - pool.pageBytes);
          }
          for (const { body, bytes, pieces } of bodies.values()) {
            assert.ok(Buffer.concat(body.inMemory).equals(bytes));
            if (pieces !== undefined) assert.ok(Buffer.concat(pieces).equals(bytes));
          }
          const orphans = [...bodies.values()].filter(({ keep }) => keep === undefined);
          assert.equal(pool.orphanBytes, sum(orphans.map(({ body }) => body.takenBytes)));
          const taken = sum([...bodies.values()].map(({ body }) => body.takenBytes));
          assert.equal(pool.freeBytes, pool.bytes - taken);
        }
        for (const { keep, hold } of bodies.values()) {
          keep?.();
          hold?.();
        }
        assert.equal(pool.freeBytes, pool.bytes);
      }),
      { numRuns: 300, seed: 3 },
    );
  });

  test('pieces that a reader has stay in place while it holds the body, and pages with them are not emptied', () => {
    const { pool } = openPool();
    const one = add(pool, Buffer.alloc(3_000, 1), 3_000, 3_000);
    const release = one?.body.hold();
    const pieces = one?.body.inMemory ?? [];
    const others = Array.from({ length: 5 }, () => add(pool, Buffer.alloc(7_000, 2), 7_000, 7_000));
    for (const other of others) other?.keep?.();
    one?.keep?.();
    assert.ok(pool.giveBackPage());
    while (pool.giveBackPage());
    add(pool, Buffer.alloc(9_000, 3), 9_000, 9_000);
    assert.deepEqual(Buffer.concat(pieces), Buffer.alloc(3_000, 1));
    release?.();
    assert.equal(pieces[0]?.[0], 0xdb);
  });

  test('a body that is gone cannot be held or read, and a body that nobody holds cannot be read', () => {
    const { pool, orphansFreed } = openPool();
    const added = add(pool, Buffer.alloc(9_000, 1), 9_000, 0);
    assert.throws(() => added?.body.read({ first: 0, last: 1 }), /nobody holds/);
    const release = added?.body.hold();
    added?.keep?.();
    added?.keep?.(); // a second time, without effect
    assert.equal(pool.orphanBytes, added?.body.takenBytes);
    assert.deepEqual(added?.body.read({ first: 8_999, last: 8_999 }), [Buffer.from([1])]);
    release?.();
    assert.equal(orphansFreed(), 1);
    assert.equal(added?.body.hold(), undefined);
    assert.equal(added?.body.keep(), undefined);
    assert.throws(() => added?.body.inMemory, /another one/);
  });

  test('a body that finds no room adds nothing', () => {
    const { pool } = openPool();
    const body = pool.open();
    const release = body.keep();
    assert.ok(body.append(Buffer.alloc(40_000, 1), 0));
    assert.equal(body.append(Buffer.alloc(20_000, 2), 0), undefined);
    assert.equal(body.sizeBytes, 40_000);
    assert.deepEqual(Buffer.concat(body.inMemory), Buffer.alloc(40_000, 1));
    release?.();
    assert.equal(pool.freeBytes, pool.bytes);
  });
});

function add(pool: BodyPool, bytes: Buffer, chunkBytes: number, expected: number): Kept | undefined {
  const body = pool.open();
  const keep = body.keep();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const placed = body.append(bytes.subarray(at, at + chunkBytes), expected);
    if (placed === undefined) {
      keep?.();
      return undefined;
    }
    assert.ok(Buffer.concat(placed).equals(bytes.subarray(at, at + chunkBytes)));
  }
  body.finish();
  return { body, bytes, keep, hold: undefined, pieces: undefined };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

describe('the memory of a store', () => {
  test('a full store takes no new memory for bodies that come and go', () => {
    const store = new MemoryStore({ maxBytes: 16 * MB });
    const fill = (from: number) => {
      for (let i = from; i < from + 300; i++) putText(store, `k${i}`, 'x'.repeat(20_000 + 1_000 * (i % 100)));
    };
    fill(0);
    const before = store.pool.bytes;
    assert.ok(before > 8 * MB && before <= 16 * MB);
    fill(300);
    assert.equal(store.pool.bytes, before);
    assert.ok(store.usage().objects > 100);
  });

  test('pages go to the arena when small objects come, and back when large ones do', async () => {
    const store = new MemoryStore({ maxBytes: 16 * MB, onFreed: overwrite });
    const text = (i: number) => `${i}`.padEnd(50_000, 'x');
    for (let i = 0; i < 400; i++) putText(store, `k${i}`, text(i));
    const full = store.pool.bytes;
    for (let i = 0; i < 12_000; i++) putText(store, `s${i}`, 'y'.repeat(1_000));
    assert.ok(store.pool.bytes < full / 2, `${store.pool.bytes} of ${full}`);
    assert.ok(store.usage().bytes <= 16 * MB);
    for (let i = 0; i < 400; i++) {
      const found = store.find(`k${i}`)?.variants[0];
      if (found !== undefined) assert.equal(await textOf(found), text(i));
    }
    for (let i = 0; i < 800; i++) putText(store, `k${i}`, text(i));
    assert.ok(store.pool.bytes > full / 2, `${store.pool.bytes} of ${full}`);
    assert.ok(store.usage().bytes <= 16 * MB);
  });

  test('what readers hold of evicted bodies is beside the limit, and is given back after them', async () => {
    const store = new MemoryStore({ maxBytes: 16 * MB, onFreed: overwrite });
    const held: {
      readonly number: number;
      readonly release: Release | undefined;
      readonly read: () => Promise<string>;
    }[] = [];
    for (let i = 0; i < 20; i++) {
      const { body } = putText(store, `k${i}`, `${i} `.repeat(500_000));
      held.push({ number: i, release: body.hold(), read: async () => (await readAll(body)).toString() });
    }
    assert.ok(store.pool.bytes > 8 * MB);
    assert.ok(store.pool.orphanBytes > 0);
    for (const { number, release, read } of held) {
      const text = await read();
      assert.ok(text === `${number} `.repeat(500_000), `${number}`);
      release?.();
    }
    assert.equal(store.pool.orphanBytes, 0);
    assert.ok(store.pool.bytes <= 16 * MB);
  });

  test('a body that has left the store cannot be put again', () => {
    const store = new MemoryStore({ maxBytes: 16 * MB });
    const response = putText(store, 'k', 'x'.repeat(20_000));
    store.remove('k', response);
    store.put('k', { ...storedHead(), body: response.body }, DEFAULT_CACHE_OPTIONS);
    assert.equal(store.find('k'), undefined);
  });
});
