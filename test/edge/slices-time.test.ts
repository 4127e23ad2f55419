/** Objects in slices over time, and with many viewers at once. Edge rule 9 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../src/edge/store/memory.ts';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { overwrite } from '../support/edge/overwrite.ts';
import { MIB, madeBytes, serveObject, sliceRange } from '../support/edge/sliceable.ts';
import { assertBytes, FILE, mark, range, startSliced } from '../support/edge/sliced.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

describe('an object in slices over time', () => {
  test('a stale object is confirmed by the slice that is requested, and its slices are used again', async (t) => {
    const { origin, edge, advance } = await startSliced(t);
    await edge.get('/film.mp4');
    advance(120_000);
    const confirmed = await edge.get('/film.mp4', range(`${MIB}-${MIB + 3}`));
    assertBytes(confirmed, FILE.subarray(MIB, MIB + 4), 206);
    assert.equal(mark(confirmed), 'REVALIDATED');
    assert.deepEqual(origin.ranges().slice(5), [sliceRange(1)]);
    assert.equal(origin.requests[5]?.headers['if-none-match'], '"one"');
    const after = await edge.get('/film.mp4');
    assertBytes(after, FILE);
    assert.equal(mark(after), 'HIT');
    assert.equal(origin.requests.length, 6);
  });

  test('a changed object begins anew, and nothing of the old one is mixed in', async (t) => {
    const { origin, edge, advance } = await startSliced(t);
    await edge.get('/film.mp4');
    const other = madeBytes(5 * MIB, 'two');
    origin.set({ bytes: other, etag: '"two"' });
    advance(120_000);
    const changed = await edge.get('/film.mp4', range(`${MIB}-${MIB + 3}`));
    assertBytes(changed, other.subarray(MIB, MIB + 4), 206);
    assert.equal(mark(changed), 'MISS');
    assertBytes(await edge.get('/film.mp4'), other);
    assert.deepEqual(
      origin.ranges().slice(5).sort(),
      [0, 1, 2, 3, 4].map((slice) => sliceRange(slice)),
    );
  });

  test('an object that shrank, vanished or lost its ranges is answered by the origin', async (t) => {
    const { origin, edge, advance } = await startSliced(t);
    await edge.get('/film.mp4');
    origin.set({ bytes: FILE.subarray(0, 10), etag: '"two"' });
    advance(120_000);
    const beyond = await edge.get('/film.mp4', range(`${4 * MIB}-`));
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, 'bytes */10']);
    advance(20_000);
    assertBytes(await edge.get('/film.mp4'), FILE.subarray(0, 10));
  });

  test('an object serves stale from the slices that are stored while the origin is down', async (t) => {
    const { origin, edge, advance } = await startSliced(t);
    const wanted = range(`${MIB}-${MIB + 3}`);
    await eventually('stored', async () => mark(await edge.get('/film.mp4', wanted)) === 'HIT');
    await origin.stop();
    advance(120_000);
    const stale = await edge.get('/film.mp4', wanted);
    assertBytes(stale, FILE.subarray(MIB, MIB + 4), 206);
    assert.equal(mark(stale), 'STALE');
    const missing = await edge.get('/film.mp4', range('0-3'));
    assert.equal(missing.status, 504);
  });

  test('an object serves stale while the target of a redirect is down', async (t) => {
    const { origin, edge, advance } = await startSliced(t, { site: { redirectFollow: true } });
    const wanted = range(`${MIB}-${MIB + 3}`);
    await eventually('stored', async () => mark(await edge.get('/film.mp4', wanted)) === 'HIT');
    const location = `http://127.0.0.1:${await freePort()}/film.mp4`;
    origin.fail((_request, response) => {
      response.writeHead(302, { location, 'content-length': '0' }).end();
      return true;
    });
    advance(120_000);
    const stale = await edge.get('/film.mp4', wanted);
    assertBytes(stale, FILE.subarray(MIB, MIB + 4), 206);
    assert.equal(mark(stale), 'STALE');
  });

  test('stale-while-revalidate serves slices at once and confirms in the background', async (t) => {
    const headers = { 'cache-control': 'max-age=60, stale-while-revalidate=600' };
    const { origin, edge, advance } = await startSliced(t, { object: { headers } });
    await edge.get('/film.mp4');
    advance(120_000);
    const stale = await edge.get('/film.mp4');
    assertBytes(stale, FILE);
    assert.equal(mark(stale), 'STALE');
    await eventually('confirmed', async () => mark(await edge.get('/film.mp4', range('0-1'))) === 'HIT');
    assert.deepEqual(origin.ranges().slice(5), [sliceRange(0)]);
  });

  test('slices are absent after a purge, after an unsafe method and after 30 days', async (t) => {
    const { origin, edge, advance } = await startSliced(t, {
      object: { headers: { 'cache-control': 'max-age=31536000' } },
    });
    const acts = {
      purge: () => edge.purge({ kind: 'url', target: `${SITE_HOST}/film.mp4` }),
      post: async () => {
        origin.fail((request, response) => {
          if (request.method === 'POST') response.writeHead(204).end();
          return request.method === 'POST';
        });
        await edge.get('/film.mp4', { method: 'POST', body: 'x' });
        origin.fail(undefined);
      },
      month: () => advance(31 * 24 * 3600 * 1000),
    };
    for (const [name, act] of Object.entries(acts)) {
      assertBytes(await edge.get('/film.mp4'), FILE);
      assert.equal(mark(await edge.get('/film.mp4')), 'HIT', name);
      advance(10);
      const before = origin.requests.length;
      await act();
      advance(10);
      const after = await edge.get('/film.mp4');
      assertBytes(after, FILE);
      assert.equal(mark(after), 'MISS', name);
      const slices = origin
        .ranges()
        .slice(before)
        .filter((each) => each !== '-');
      assert.deepEqual(
        slices,
        [0, 1, 2, 3, 4].map((slice) => sliceRange(slice)),
        name,
      );
    }
  });

  test('a slice that was requested before a purge serves only requests before it', async (t) => {
    const { origin, edge, advance } = await startSliced(t);
    await edge.get('/film.mp4', range('0-0'));
    const other = madeBytes(5 * MIB, 'two');
    const held: (() => void)[] = [];
    origin.fail((request, response, object) => {
      if (request.headers['range'] !== `bytes=${sliceRange(1)}` || held.length > 0) return false;
      held.push(() => serveObject(request, response, object));
      return true;
    });
    const before = edge.get('/film.mp4', range(`${MIB}-${MIB + 4}`));
    await eventually('asked', () => held.length === 1);
    advance(10);
    edge.purge({ kind: 'url', target: `${SITE_HOST}/film.mp4` });
    advance(10);
    // The origin has broken its word: other bytes under the same tag.
    origin.set({ bytes: other });
    assertBytes(await edge.get('/film.mp4', range('0-4')), other.subarray(0, 5), 206);
    assertBytes(await edge.get('/film.mp4', range(`${MIB}-${MIB + 4}`)), other.subarray(MIB, MIB + 5), 206);
    held[0]?.();
    assertBytes(await before, FILE.subarray(MIB, MIB + 5), 206);
    assertBytes(await edge.get('/film.mp4'), other);
  });

  test('queries share slices under keep_url_params, and a purge covers them all', async (t) => {
    const { origin, edge, advance } = await startSliced(t, { site: { ignoresQuery: true } });
    const marks: (string | undefined)[] = [];
    const watch = async (query: string) => {
      const received = await edge.get(`/film.mp4?${query}`);
      assertBytes(received, FILE);
      marks.push(mark(received));
    };
    await watch('a');
    await watch('b');
    advance(10);
    edge.purge({ kind: 'url', target: `${SITE_HOST}/film.mp4` });
    advance(10);
    await watch('c');
    assert.deepEqual(marks, ['MISS', 'HIT', 'MISS']);
    assert.deepEqual(origin.requests.map(({ target }) => target.slice(-1)).join(''), 'aaaaaccccc');
  });

  test('slices stored before a clock was set back are absent', async (t) => {
    const { origin, edge, advance } = await startSliced(t);
    advance(3_600_000);
    assertBytes(await edge.get('/film.mp4'), FILE);
    advance(-3_600_000);
    edge.purge({ kind: 'site', target: '' });
    advance(10);
    const other = madeBytes(5 * MIB, 'two');
    origin.set({ bytes: other });
    assertBytes(await edge.get('/film.mp4'), other);
  });

  test('an unsafe method removes the index from the store, so that it stays absent when the instant is forgotten', async (t) => {
    const store = new MemoryStore({ maxBytes: 64 * MIB, onFreed: overwrite });
    const { origin, edge } = await startSliced(t, { store });
    await edge.get('/film.mp4');
    const key = `1  ${SITE_HOST} /film.mp4\nslices`;
    assert.equal(store.find(key)?.variants.length, 1);
    edge.advance(10);
    origin.fail((_request, response) => {
      response.writeHead(204).end();
      return true;
    });
    await edge.get('/film.mp4', { method: 'DELETE' });
    assert.deepEqual(store.find(key)?.variants, []);
  });

  test('clients of every coding share one object, also where the origin says that it varies', async (t) => {
    const headers = { 'cache-control': 'max-age=60', vary: 'Accept-Encoding' };
    const { origin, edge } = await startSliced(t, { object: { headers } });
    for (const coding of ['gzip, br', 'identity', 'br;q=0.5']) {
      assertBytes(await edge.get('/film.mp4', { headers: ['Accept-Encoding', coding] }), FILE);
    }
    assert.equal(origin.requests.length, 5);
  });

  test('variants have slices of their own', async (t) => {
    const { origin, edge } = await startSliced(t, {
      object: { headers: { 'cache-control': 'max-age=60', vary: 'X-Kind' } },
    });
    const other = madeBytes(5 * MIB, 'two');
    // Of a broken origin: the same tag for both.
    origin.fail((request, _response) => {
      origin.set({ bytes: request.headers['x-kind'] === 'b' ? other : FILE });
      return false;
    });
    for (let round = 0; round < 2; round++) {
      assertBytes(await edge.get('/film.mp4', { headers: ['X-Kind', 'a'] }), FILE);
      assertBytes(await edge.get('/film.mp4', { headers: ['X-Kind', 'b'] }), other);
    }
  });
});

describe('concurrent viewers of one object in slices', () => {
  test('concurrent viewers of an unknown object cause one request per slice', async (t) => {
    const { origin, edge } = await startSliced(t);
    const all = Array.from({ length: 20 }, (_, i) =>
      edge.get('/film.mp4', i % 2 === 0 ? {} : range(`${i * 200_000}-`)),
    );
    for (const [i, received] of (await Promise.all(all)).entries()) {
      if (i % 2 === 0) assertBytes(received, FILE);
      else assertBytes(received, FILE.subarray(i * 200_000), 206);
    }
    assert.equal(origin.requests.length, 5);
  });

  test('viewers of many objects get the right bytes if there is no memory for waiting slices', async (t) => {
    for (const cacheBytes of [8 * MIB, MIB]) {
      const { edge } = await startSliced(t, { cacheBytes, maxLagBytes: 0 });
      const all = Array.from({ length: 24 }, (_, i) => edge.get(`/${i % 8}.mp4`, range(`${i * 100_000}-`)));
      for (const [i, received] of (await Promise.all(all)).entries()) {
        assertBytes(received, FILE.subarray(i * 100_000), 206);
      }
    }
  });

  test('viewers cause one request per slice, and one that leaves does not stop the others', async (t) => {
    const { origin, edge } = await startSliced(t);
    const waiting: (() => void)[] = [];
    origin.fail((_request, response) => {
      if (waiting.length > 0 || origin.requests.length !== 3) return false;
      waiting.push(() => response.destroy());
      return false;
    });
    const leaving = connectRaw(edge.port, `GET /film.mp4 HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    await eventually('it has begun', () => leaving.text().length > 0);
    const others = Array.from({ length: 20 }, (_, i) =>
      edge.get('/film.mp4', i % 2 === 0 ? {} : range(`${i * 1000}-`)),
    );
    leaving.socket.destroy();
    for (const [i, received] of (await Promise.all(others)).entries()) {
      if (i % 2 === 0) assertBytes(received, FILE);
      else assertBytes(received, FILE.subarray(i * 1000), 206);
    }
    assert.equal(origin.requests.length, 5);
  });

  test('an object is served slice by slice if the store accepts nothing', async (t) => {
    const { origin, edge } = await startSliced(t, { cacheBytes: MIB });
    for (let round = 0; round < 2; round++) {
      const received = await edge.get('/film.mp4');
      assertBytes(received, FILE);
      assert.equal(mark(received), 'MISS');
    }
    assert.deepEqual(
      origin.ranges(),
      [0, 1, 2, 3, 4, 0, 1, 2, 3, 4].map((slice) => sliceRange(slice)),
    );
  });

  test('a client that does not read has only the slice it reads and the next one fetched', async (t) => {
    const { origin, edge } = await startSliced(t, { object: { bytes: madeBytes(40 * MIB) } });
    const slow = connectRaw(edge.port);
    slow.socket.pause();
    slow.socket.write(`GET /slow.mp4 HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    await eventually('it has begun', () => origin.requests.length > 0);
    assert.equal((await edge.get('/fast.mp4')).body.length, 40 * MIB);
    const ofSlow = origin.requests.filter(({ target }) => target === '/slow.mp4').length;
    // What the kernel takes for it, and two more.
    assert.ok(ofSlow < 25, String(ofSlow));
    slow.socket.destroy();
  });

  test('the log has the bytes of each viewer of slices', async (t) => {
    const { edge } = await startSliced(t);
    await edge.get('/film.mp4', range('0-99'));
    await edge.get('/film.mp4', range('0-99'));
    await eventually('two lines', () => edge.log.length === 2);
    assert.deepEqual(
      edge.log.map(({ result }) => result),
      ['TCP_MISS/206', 'TCP_MEM_HIT/206'],
    );
    for (const { responseBytes } of edge.log) assert.ok(responseBytes > 100 && responseBytes < 1000);
  });
});
