/** The test suite of every cache store; each implementation's test calls it once. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import { Holds } from './holds.ts';
import { isReadable } from './readable-body.ts';
import type { CachedResponse, CacheStore } from './store.ts';
import { finishSomehow, putText, readAll, storedHead, textOf } from './store-samples.suite.ts';

interface OpenedStore {
  readonly store: CacheStore;
  /** Resolves when everything put is in its permanent place and the limit holds. */
  settle(): Promise<void>;
  /** Usage of the tier that `maxBytes` limits. */
  usage(): { readonly bytes: number; readonly objects: number };
}

export type OpenStore = (t: TestContext, options: { readonly maxBytes: number }) => OpenedStore;

export function storeSuite(name: string, open: OpenStore): void {
  describe(name, () => {
    test('an object is found under its key only', async (t) => {
      const { store } = open(t, { maxBytes: 1_000_000 });
      putText(store, 'k', 'hello');
      const found = await store.find('k');
      assert.equal(found?.variants.length, 1);
      assert.equal(await textOf(found?.variants[0]), 'hello');
      assert.equal(await store.find('l'), undefined);
    });

    test('a head is returned as it was stored', async (t) => {
      const { store, settle } = open(t, { maxBytes: 1_000_000 });
      const full = storedHead({
        status: 206,
        reason: 'Partial Content \u00e9',
        headers: ['Set-Cookie', 'a=1', 'Set-Cookie', 'b="\u00ff"'],
        vary: ['accept-encoding', 'x'],
        varyKey: 'gzip\n\u00e9',
        varyHeaders: ['X', '\u00e9'],
        etag: 'W/"\u00e9"',
        range: { first: 0, last: 4, complete: 10 },
        lastModifiedAt: 0,
        staleIfErrorMs: 0,
        mustValidate: true,
        forbidsStale: true,
        isInvalid: true,
        noTransform: true,
      });
      putText(store, 'k', 'hello', full);
      putText(store, 'plain', 'hello');
      await settle();
      for (const [key, expected] of [
        ['k', full],
        ['plain', storedHead()],
      ] as const) {
        const { body: _, isFromDisk: __, place: ___, ...head } = (await store.find(key))?.variants[0] ?? {};
        assert.deepEqual(head, expected);
      }
    });

    test('a body is returned whole and in spans, over the borders of its chunks', async (t) => {
      const { store } = open(t, { maxBytes: 100_000_000 });
      const bytes = Buffer.alloc(3_000_000, 'abcdefghijk');
      const writer = store.openWriter();
      for (let at = 0; at < bytes.length; at += 65_521) assert.ok(writer.add(bytes.subarray(at, at + 65_521)));
      const body = writer.finish();
      assert.equal(body?.sizeBytes, bytes.length);
      if (body !== undefined) store.put('k', { ...storedHead(), body }, DEFAULT_CACHE_OPTIONS);
      writer.discard();
      const found = (await store.find('k'))?.variants[0];
      assert.ok(found !== undefined);
      using holds = new Holds();
      assert.ok(await isReadable(found.body, holds));
      for (const [first, last] of [
        [0, bytes.length - 1],
        [0, 0],
        [262_143, 262_144],
        [1_048_575, 1_048_577],
        [2_999_999, 2_999_999],
        [1, 0],
      ] as const) {
        const span = await readAll(found.body, { first, last });
        assert.ok(span.equals(bytes.subarray(first, last + 1)), `${first}-${last}`);
      }
    });

    for (const [change, apply] of [
      ['put again', (store) => putText(store, 'k', 'other', { requestAt: 2_000 })],
      ['removed', (store, found) => store.remove('k', found)],
      ['invalidated', (store) => store.invalidate('k', 1_000_000)],
      // Each is used, so that the hand reaches the first one again.
      ['evicted', (store) => Array.from({ length: 8_000 }, (_, i) => putText(store, `k${i >> 1}`, 'x'.repeat(1_000)))],
    ] as const satisfies readonly (readonly [string, (store: CacheStore, found: CachedResponse) => unknown])[]) {
      test(`a place in memory, where one is given, is the entry's until it is ${change}`, async (t) => {
        const { store, settle } = open(t, { maxBytes: 1_000_000 });
        putText(store, 'k', 'hello', { vary: ['accept-encoding'] });
        await settle();
        await store.find('k');
        const found = (await store.find('k'))?.variants[0];
        assert.ok(found !== undefined);
        const { place } = found;
        if (place === undefined) return;
        assert.equal(store.isStill?.(place), true);
        await store.find('k');
        assert.equal(store.isStill?.(place), true);
        apply(store, found);
        assert.equal(store.isStill?.(place), false);
      });
    }

    test('an entry that needs more than its key to be found gets no place', async (t) => {
      const { store } = open(t, { maxBytes: 1_000_000 });
      putText(store, 'k', 'hello', { vary: ['accept-encoding'] });
      putText(store, 'k', 'hello', { vary: ['accept-encoding', 'x'] });
      putText(store, 'l', 'hello', { vary: ['accept-encoding'] });
      putText(store, 'l', 'hello');
      for (const key of ['k', 'l'])
        for (const { place } of (await store.find(key))?.variants ?? []) assert.equal(place, undefined);
    });

    test('an empty body is a body', async (t) => {
      const { store } = open(t, { maxBytes: 1_000_000 });
      putText(store, 'k', '');
      assert.equal(await textOf((await store.find('k'))?.variants[0]), '');
    });

    for (const size of [1, 4_000, 8_192, 8_193, 32_768, 32_769, 262_144, 262_145]) {
      test(`a body of ${size} bytes is found by the next look-up and by a later one, also with a new head`, async (t) => {
        const { store, settle } = open(t, { maxBytes: 100_000_000 });
        const content = 'x'.repeat(size);
        putText(store, 'k', content);
        assert.equal(await textOf((await store.find('k'))?.variants[0]), content);
        await settle();
        const found = (await store.find('k'))?.variants[0];
        assert.equal(await textOf(found), content);
        assert.ok(found !== undefined);
        store.put('k', { ...found, responseAt: 900, headers: ['X', 'new'] }, DEFAULT_CACHE_OPTIONS);
        for (let i = 0; i < 2; i++) {
          const again = await store.find('k');
          assert.equal(again?.variants.length, 1);
          assert.deepEqual(again?.variants[0]?.headers, ['X', 'new']);
          assert.equal(await textOf(again?.variants[0]), content);
          await settle();
        }
      });
    }

    test('variants stand side by side; one with the same secondary key is replaced; the oldest leave beyond the limit', async (t) => {
      const { store, settle } = open(t, { maxBytes: 1_000_000 });
      for (let i = 0; i < 40; i++) putText(store, 'k', `body ${i}`, { vary: ['x'], varyKey: String(i) });
      putText(store, 'k', 'again', { vary: ['x'], varyKey: '39' });
      await settle();
      const variants = (await store.find('k'))?.variants ?? [];
      assert.equal(variants.length, DEFAULT_CACHE_OPTIONS.maxVariants);
      assert.equal(await textOf(variants[0]), 'again');
      assert.deepEqual(
        variants.map(({ varyKey }) => varyKey),
        Array.from({ length: 32 }, (_, i) => String(39 - i)),
      );
    });

    test('unused entries make room, and the limit holds', async (t) => {
      const { store, settle, usage } = open(t, { maxBytes: 200_000 });
      for (let i = 0; i < 100; i++) {
        putText(store, `k${i}`, 'x'.repeat(10_000));
        await store.find('k0'); // always in use
        await settle();
        assert.ok(usage().bytes <= 200_000, `${usage().bytes}`);
      }
      assert.ok(await store.find('k0'));
      assert.ok(usage().objects >= 8 && usage().objects < 20, `${usage().objects}`);
    });

    test('a body over the limit is refused while it arrives', (t) => {
      const { store } = open(t, { maxBytes: 100_000 });
      const writer = store.openWriter();
      for (let left = store.maxBodyBytes; left > 0; left -= 1_000)
        assert.equal(writer.add(Buffer.alloc(Math.min(left, 1_000))), true);
      assert.equal(writer.add(Buffer.alloc(1)), false);
      assert.equal(writer.isOpen, false);
      assert.equal(writer.add(Buffer.alloc(1)), false);
      assert.equal(writer.finish(), undefined);
    });

    test('unfinished bodies together have a limit, and give their room back', (t) => {
      const { store } = open(t, { maxBytes: 4_000_000 });
      const chunk = Buffer.alloc(store.maxBodyBytes);
      for (let round = 0; round < 3; round++) {
        const writers = Array.from({ length: 100 }, () => store.openWriter());
        const taken = writers.filter((writer) => writer.add(chunk));
        assert.ok(taken.length >= 1 && taken.length < 20, `${taken.length}`);
        for (const [index, writer] of taken.entries()) finishSomehow(writer, index);
      }
    });

    test('a discarded body is not stored', async (t) => {
      const { store, settle, usage } = open(t, { maxBytes: 100_000 });
      const before = usage();
      const writer = store.openWriter();
      writer.add(Buffer.from('x'));
      writer.discard();
      assert.equal(writer.finish(), undefined);
      await settle();
      assert.deepEqual(usage(), before);
    });

    test('invalidating drops every variant, and responses requested before it never enter', async (t) => {
      const { store, settle } = open(t, { maxBytes: 1_000_000 });
      putText(store, 'k', 'a', { vary: ['x'], varyKey: '1' });
      putText(store, 'k', 'b', { vary: ['x'], varyKey: '2' });
      store.invalidate('k', 1_000);
      assert.deepEqual([(await store.find('k'))?.variants, (await store.find('k'))?.invalidatedAt], [[], 1_000]);
      putText(store, 'k', 'late', { requestAt: 1_000 });
      assert.deepEqual((await store.find('k'))?.variants, []);
      store.invalidate('k', 900); // never moves back
      putText(store, 'k', 'late', { requestAt: 950 });
      assert.deepEqual((await store.find('k'))?.variants, []);
      putText(store, 'k', 'new', { requestAt: 1_001 });
      assert.equal(await textOf((await store.find('k'))?.variants[0]), 'new');
      await settle();
      assert.equal(await textOf((await store.find('k'))?.variants[0]), 'new');
    });

    test('removing takes this very variant and no later one', async (t) => {
      const { store, settle } = open(t, { maxBytes: 1_000_000 });
      const old = putText(store, 'k', 'old');
      const next = putText(store, 'k', 'next', { responseAt: 501 });
      store.remove('k', old);
      assert.equal(await textOf((await store.find('k'))?.variants[0]), 'next');
      await settle();
      store.remove('k', next);
      assert.equal(await store.find('k'), undefined);
    });

    test('a body that is held stays readable when it leaves the store', async (t) => {
      const { store, settle } = open(t, { maxBytes: 10_000_000 });
      const content = '0123456789'.repeat(100_000);
      putText(store, 'k', content);
      await settle();
      const found = (await store.find('k'))?.variants[0];
      assert.ok(found !== undefined);
      using holds = new Holds();
      assert.ok(await isReadable(found.body, holds));
      store.remove('k', found);
      assert.equal(await store.find('k'), undefined);
      assert.equal((await readAll(found.body)).toString(), content);
    });
  });
}
