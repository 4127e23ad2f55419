/** What every cache store does. Each implementation's test calls this once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_CACHE_OPTIONS } from '#http/options.ts';
import type { BodyWriter, CachedResponse, CacheStore } from './store.ts';

export function storeSuite(name: string, open: (options: { maxBytes: number }) => CacheStore): void {
  describe(name, () => {
    test('what was put is found under its key, and only there', async () => {
      const store = open({ maxBytes: 1_000_000 });
      put(store, 'k', 'hello');
      const found = await store.find('k');
      assert.equal(found?.variants.length, 1);
      assert.equal(await text(found?.variants[0]), 'hello');
      assert.equal(await store.find('l'), undefined);
    });

    test('a body comes back whole and in spans, over the borders of what was written', async () => {
      const store = open({ maxBytes: 100_000_000 });
      const bytes = Buffer.alloc(3_000_000, 'abcdefghijk');
      const writer = store.openWriter();
      for (let at = 0; at < bytes.length; at += 65_521) assert.ok(writer.add(bytes.subarray(at, at + 65_521)));
      const body = writer.finish();
      assert.equal(body?.sizeBytes, bytes.length);
      for (const [first, last] of [
        [0, bytes.length - 1],
        [0, 0],
        [1_048_575, 1_048_577],
        [2_999_999, 2_999_999],
      ] as const) {
        const pieces: Buffer[] = [];
        for await (const piece of body?.read({ first, last }) ?? []) pieces.push(piece);
        assert.ok(Buffer.concat(pieces).equals(bytes.subarray(first, last + 1)), `${first}-${last}`);
      }
    });

    test('an empty body is a body', async () => {
      const store = open({ maxBytes: 1_000_000 });
      put(store, 'k', '');
      assert.equal(await text((await store.find('k'))?.variants[0]), '');
    });

    test('variants stand side by side; one with the same secondary key is replaced; the oldest leave beyond the limit', async () => {
      const store = open({ maxBytes: 1_000_000 });
      for (let i = 0; i < 40; i++) put(store, 'k', `body ${i}`, { vary: ['x'], varyKey: String(i) });
      put(store, 'k', 'again', { vary: ['x'], varyKey: '39' });
      const variants = (await store.find('k'))?.variants ?? [];
      assert.equal(variants.length, DEFAULT_CACHE_OPTIONS.maxVariants);
      assert.equal(await text(variants[0]), 'again');
      assert.deepEqual(
        variants.map(({ varyKey }) => varyKey),
        Array.from({ length: 32 }, (_, i) => String(39 - i)),
      );
      assert.equal(store.usage().objects, 32);
    });

    test('room is made by what was used longest ago, and the limit holds', async () => {
      const store = open({ maxBytes: 100_000 });
      for (let i = 0; i < 50; i++) {
        put(store, `k${i}`, 'x'.repeat(10_000));
        await store.find('k0'); // in use all the time
        assert.ok(store.usage().bytes <= 100_000);
      }
      assert.ok(await store.find('k0'));
      assert.ok(await store.find('k49'));
      assert.equal(await store.find('k1'), undefined);
      assert.ok(store.usage().objects >= 5 && store.usage().objects < 10);
    });

    test('a body over the limit is refused while it arrives', () => {
      const store = open({ maxBytes: 100_000 });
      const writer = store.openWriter();
      assert.equal(writer.add(Buffer.alloc(store.maxBodyBytes)), true);
      assert.equal(writer.add(Buffer.alloc(1)), false);
      assert.equal(writer.isOpen, false);
      assert.equal(writer.add(Buffer.alloc(1)), false);
      assert.equal(writer.finish(), undefined);
    });

    test('unfinished bodies together have a limit, and give their room back', () => {
      const store = open({ maxBytes: 100_000 });
      const chunk = Buffer.alloc(store.maxBodyBytes);
      const writers = Array.from({ length: 100 }, () => store.openWriter());
      const taken = writers.filter((writer) => writer.add(chunk));
      assert.ok(taken.length >= 1 && taken.length < 10);
      for (const [index, writer] of taken.entries()) finishSomehow(writer, index);
      assert.equal(store.openWriter().add(chunk), true);
    });

    test('a discarded body is nowhere', async () => {
      const store = open({ maxBytes: 100_000 });
      const writer = store.openWriter();
      writer.add(Buffer.from('x'));
      writer.discard();
      assert.equal(writer.finish(), undefined);
      assert.deepEqual(store.usage(), { bytes: 0, objects: 0 });
    });

    test('invalidating drops every variant, and what was requested before it never enters', async () => {
      const store = open({ maxBytes: 1_000_000 });
      put(store, 'k', 'a', { vary: ['x'], varyKey: '1' });
      put(store, 'k', 'b', { vary: ['x'], varyKey: '2' });
      store.invalidate('k', 1_000);
      assert.deepEqual([(await store.find('k'))?.variants, (await store.find('k'))?.invalidatedAt], [[], 1_000]);
      put(store, 'k', 'late', { requestAt: 1_000 });
      assert.deepEqual((await store.find('k'))?.variants, []);
      put(store, 'k', 'new', { requestAt: 1_001 });
      assert.equal(await text((await store.find('k'))?.variants[0]), 'new');
      assert.equal(store.usage().objects, 1);
    });

    test('removing takes this very variant and no later one', async () => {
      const store = open({ maxBytes: 1_000_000 });
      const old = put(store, 'k', 'old');
      const next = put(store, 'k', 'next');
      store.remove('k', old);
      assert.equal(await text((await store.find('k'))?.variants[0]), 'next');
      store.remove('k', next);
      assert.equal(await store.find('k'), undefined);
      assert.deepEqual(store.usage(), { bytes: 0, objects: 0 });
    });

    test('a body that is being read stays readable when it leaves the store', async () => {
      const store = open({ maxBytes: 1_000_000 });
      const response = put(store, 'k', 'still here');
      store.remove('k', response);
      assert.equal(await text(response), 'still here');
    });
  });
}

function put(store: CacheStore, key: string, content: string, changes: Partial<CachedResponse> = {}): CachedResponse {
  const writer = store.openWriter();
  if (content !== '') writer.add(Buffer.from(content));
  const body = writer.finish();
  if (body === undefined) throw new Error('the body was not taken');
  const response = { ...HEAD, ...changes, body };
  store.put(key, response, DEFAULT_CACHE_OPTIONS);
  return response;
}

async function text(response: CachedResponse | undefined): Promise<string | undefined> {
  if (response === undefined) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of response.body.read({ first: 0, last: response.body.sizeBytes - 1 })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function finishSomehow(writer: BodyWriter, index: number): void {
  if (index % 2 === 0) writer.finish();
  else writer.discard();
}

const HEAD: Omit<CachedResponse, 'body'> = {
  status: 200,
  reason: 'OK',
  headers: ['Content-Type', 'text/plain'],
  vary: [],
  varyKey: '',
  varyHeaders: [],
  etag: undefined,
  range: undefined,
  requestAt: 500,
  responseAt: 500,
  dateAt: 500,
  lastModifiedAt: undefined,
  initialAgeMs: 0,
  lifetimeMs: 60_000,
  staleWhileRevalidateMs: 0,
  staleIfErrorMs: undefined,
  mustValidate: false,
  forbidsStale: false,
  isInvalid: false,
  noTransform: false,
};
