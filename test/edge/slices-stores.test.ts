/** Objects in slices on a disk that workers share, when they are prefetched, and when they are compressed; and any range of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { fetchFrom, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { sharedStores } from '../support/edge/shared-store.ts';
import { MIB, madeBytes, sliceRange, startSliceableOrigin } from '../support/edge/sliceable.ts';
import { assertBytes, FILE, mark, range, startSliced } from '../support/edge/sliced.ts';
import { eventually } from '../support/eventually.ts';

const SLICES = [0, 1, 2, 3, 4].map((slice) => sliceRange(slice));

describe('slices on a disk', () => {
  for (const memoryBytes of [32 * MIB, 0]) {
    test(`slices on a disk are shared by all its workers, and survive a restart (memory: ${memoryBytes / MIB} MiB)`, async (t) => {
      const openStore = sharedStores(t, memoryBytes);
      const origin = await startSliceableOrigin(t, { bytes: FILE });
      const start = async () => {
        const store = openStore();
        const edge = await startTestEdge(t, [origin.port], { store });
        edge.put({ name: SITE_HOST, rangeBackSource: true });
        return { edge, store };
      };
      const isStored = async ({ edge }: typeof one, slice: string) => {
        return mark(await edge.get('/film.mp4', range(slice, 'Cache-Control', 'only-if-cached'))) === 'HIT';
      };
      const [one, two] = [await start(), await start()];
      assertBytes(await one.edge.get('/film.mp4'), FILE);
      // If both fetched them, slices of both would be stored, and those older than the index would be fetched again.
      for (const slice of SLICES) await eventually(`the other finds ${slice}`, () => isStored(two, slice));
      const received = await two.edge.get('/film.mp4');
      assertBytes(received, FILE);
      assert.equal(mark(received), 'HIT');
      for (const { store } of [one, two]) await store[Symbol.asyncDispose]();
      const three = await start();
      await eventually('the new worker has read the folder', () => isStored(three, sliceRange(4)));
      const part = await three.edge.get('/film.mp4', range(`${MIB - 5}-${3 * MIB}`));
      assertBytes(part, FILE.subarray(MIB - 5, 3 * MIB + 1), 206);
      assert.equal(mark(part), 'HIT');
      assert.equal(three.edge.log.at(-1)?.result, 'TCP_HIT/206');
      assert.equal(origin.requests.length, SLICES.length);
    });
  }
});

describe('a prefetch of slices', () => {
  const film = { host: SITE_HOST, target: '/film.mp4', scheme: 'http' } as const;

  test('a prefetch fetches all slices, also those that were missing', async (t) => {
    const { origin, edge } = await startSliced(t);
    await edge.get('/film.mp4', range(`${2 * MIB}-${2 * MIB}`));
    assert.deepEqual(await edge.edge.prefetch(film), { kind: 'stored' });
    assert.deepEqual(origin.ranges().toSorted(), SLICES);
    const received = await edge.get('/film.mp4');
    assertBytes(received, FILE);
    assert.equal(mark(received), 'HIT');
    assert.deepEqual(await edge.edge.prefetch(film), { kind: 'stored' });
    assert.equal(origin.requests.length, 5);
  });

  test('a prefetch of a stale object confirms it', async (t) => {
    const { origin, edge, advance } = await startSliced(t);
    await edge.edge.prefetch(film);
    advance(120_000);
    assert.deepEqual(await edge.edge.prefetch(film), { kind: 'stored' });
    assert.deepEqual(origin.ranges().toSorted(), [...SLICES, sliceRange(0)].toSorted());
  });

  test('a prefetch of slices says why it failed', async (t) => {
    const { origin, edge } = await startSliced(t);
    origin.fail(({ headers }, response) => {
      if (headers['range'] !== `bytes=${sliceRange(3)}`) return false;
      response.writeHead(503, { 'content-length': '0' }).end();
      return true;
    });
    assert.deepEqual(await edge.edge.prefetch(film), { kind: 'failed', reason: 'errorStatus' });
    origin.fail((_request, response) => {
      response.writeHead(404, { 'content-length': '0' }).end();
      return true;
    });
    const other = { ...film, target: '/other.mp4' };
    assert.deepEqual(await edge.edge.prefetch(other), { kind: 'failed', reason: 'errorStatus' });
    const { edge: small } = await startSliced(t, { cacheBytes: MIB });
    assert.deepEqual(await small.edge.prefetch(film), { kind: 'failed', reason: 'incomplete' });
  });

  test('a prefetch of an object within one slice, or an unsliceable one, fetches the whole', async (t) => {
    const { origin, edge } = await startSliced(t, { object: { bytes: FILE.subarray(0, 1000) } });
    assert.deepEqual(await edge.edge.prefetch(film), { kind: 'stored' });
    assert.equal(mark(await edge.get('/film.mp4')), 'HIT');
    assert.equal(origin.requests.length, 1);
    const { edge: other } = await startSliced(t, { object: { etag: undefined } });
    assert.deepEqual(await other.edge.prefetch(film), { kind: 'stored' });
    assert.equal(mark(await other.get('/film.mp4')), 'HIT');
  });
});

test('a page in slices is compressed like any other', async (t) => {
  const text = Buffer.from(madeBytes(MIB).toString('hex'));
  const headers = { 'cache-control': 'max-age=60', 'content-type': 'text/html' };
  const { origin, edge } = await startSliced(t, { object: { bytes: text, headers }, site: { pageCompress: true } });
  for (let round = 0; round < 3; round++) {
    const received = await edge.get('/', { headers: ['Accept-Encoding', 'gzip'] });
    assert.equal(received.headers['content-encoding'], 'gzip');
    assert.ok(gunzipSync(Buffer.from(received.body, 'latin1')).equals(text));
  }
  assertBytes(await edge.get('/', range('5-9')), text.subarray(5, 10), 206);
  assert.equal(origin.requests.length, 2);
});

describe('any range of an object in slices', () => {
  const position = fc.oneof(
    fc.integer({ min: 0, max: FILE.length + 10 }),
    fc
      .tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: -2, max: 2 }))
      .map(([n, by]) => Math.max(n * MIB + by, 0)),
  );
  const ranges = fc.oneof(
    position.map((first) => `${first}-`),
    position.map((length) => `-${length}`),
    fc.tuple(position, position).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  );
  const expected = (text: string, bytes: Buffer): Buffer | undefined => {
    const [from = '', to = ''] = text.split('-');
    const first = from === '' ? Math.max(bytes.length - Number(to), 0) : Number(from);
    const last = from === '' || to === '' ? bytes.length - 1 : Math.min(Number(to), bytes.length - 1);
    return first > last || (from === '' && Number(to) === 0) ? undefined : bytes.subarray(first, last + 1);
  };

  // The smaller store gives slices up all the time.
  for (const cacheBytes of [64 * MIB, 10 * MIB]) {
    test(`any range of an object in slices has the bytes of the object (cache: ${cacheBytes / MIB} MiB)`, async (t) => {
      const { edge } = await startSliced(t, { cacheBytes });
      await fc.assert(
        fc.asyncProperty(fc.array(ranges, { minLength: 1, maxLength: 3 }), async (texts) => {
          const all = await Promise.all(texts.map((text) => edge.get('/film.mp4', range(text))));
          for (const [i, received] of all.entries()) {
            const bytes = expected(texts[i] ?? '', FILE);
            if (bytes === undefined) assert.equal(received.status, 416);
            else assertBytes(received, bytes, 206);
          }
        }),
        { numRuns: 60, seed: 1 },
      );
    });
  }

  test('any range of an object in slices is of one version, however often it is replaced', async (t) => {
    const versions = [1, 2, 3, 4].map((number) => madeBytes(5 * MIB, String(number)));
    const { origin, edge } = await startSliced(t, { object: { bytes: versions[0] ?? FILE, etag: '"0"' } });
    let asked = 0;
    origin.fail(() => {
      const version = Math.floor(++asked / 5) % versions.length;
      origin.set({ bytes: versions[version] ?? FILE, etag: `"${version}"` });
      return false;
    });
    let wholes = 0;
    await fc.assert(
      fc.asyncProperty(ranges, async (text) => {
        const received = await fetchFrom(edge.port, '/film.mp4', range(text));
        if (received.status === 416) return;
        const body = Buffer.from(received.body, 'latin1');
        const isOfOne = versions.some((bytes) => {
          const wanted = received.status === 200 ? bytes : expected(text, bytes);
          return (
            wanted?.subarray(0, body.length).equals(body) === true &&
            (!received.isWhole || wanted.length === body.length)
          );
        });
        assert.ok(isOfOne);
        if (received.isWhole) wholes++;
      }),
      { numRuns: 60, seed: 1 },
    );
    assert.ok(wholes > 20, String(wholes));
  });
});
