/** Objects of a domain with range back-source: fetched in slices of 1 MiB, stored in them, served from them. Edge rule 9 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { SiteSpec } from '../src/sites/spec.ts';
import { connectRaw, type FetchOptions, type Received, SITE_HOST, startTestEdge } from './support/edge.ts';
import { eventually } from './support/eventually.ts';
import { MIB, madeBytes, type ServedObject, sliceRange, startSliceableOrigin } from './support/sliceable.ts';

const FILE = madeBytes(5 * MIB);

interface Started {
  readonly object?: Partial<ServedObject>;
  readonly site?: Partial<SiteSpec>;
  readonly cacheBytes?: number;
}

async function start(t: TestContext, { object, site, cacheBytes = 64 * MIB }: Started = {}) {
  const origin = await startSliceableOrigin(t, object);
  const edge = await startTestEdge(t, [origin.port], { cacheBytes });
  edge.put({ name: SITE_HOST, rangeBackSource: true, ...site });
  const advance = (ms: number) => {
    origin.advance(ms);
    edge.advance(ms);
  };
  return { origin, edge, advance };
}

const range = (text: string, ...more: string[]): FetchOptions => ({ headers: ['Range', `bytes=${text}`, ...more] });

function assertBytes(received: Received, expected: Buffer, status = 200): void {
  assert.equal(received.status, status);
  assert.ok(received.isWhole, 'the answer is whole');
  assert.equal(received.body.length, expected.length);
  assert.ok(Buffer.from(received.body, 'latin1').equals(expected), 'the bytes are those of the object');
}

const mark = ({ headers }: Received) => headers['x-cache'];

describe('slices', () => {
  test('a whole object is fetched in slices, each once, and then served from them', async (t) => {
    const { origin, edge } = await start(t);
    const first = await edge.get('/film.mp4');
    assertBytes(first, FILE);
    assert.equal(mark(first), 'MISS');
    assert.equal(first.headers['content-length'], String(5 * MIB));
    assert.equal(first.headers['content-range'], undefined);
    assert.equal(first.headers['content-type'], 'video/mp4');
    assert.deepEqual(
      origin.ranges(),
      [0, 1, 2, 3, 4].map((slice) => sliceRange(slice)),
    );
    for (const { headers } of origin.requests) assert.equal(headers['accept-encoding'], 'identity');
    assert.deepEqual(
      origin.requests.map(({ headers }) => headers['if-range']),
      [undefined, '"one"', '"one"', '"one"', '"one"'],
    );
    const second = await edge.get('/film.mp4');
    assertBytes(second, FILE);
    assert.equal(mark(second), 'HIT');
    assert.equal(origin.requests.length, 5);
  });

  test('a range fetches only the slices that it touches', async (t) => {
    const { origin, edge } = await start(t);
    const middle = await edge.get('/film.mp4', range(`${2 * MIB + 5}-${2 * MIB + 9}`));
    assertBytes(middle, FILE.subarray(2 * MIB + 5, 2 * MIB + 10), 206);
    assert.equal(middle.headers['content-range'], `bytes ${2 * MIB + 5}-${2 * MIB + 9}/${5 * MIB}`);
    assert.equal(mark(middle), 'MISS');
    assert.deepEqual(origin.ranges(), [sliceRange(2)]);
    const across = await edge.get('/film.mp4', range(`${3 * MIB - 3}-${3 * MIB + 2}`));
    assertBytes(across, FILE.subarray(3 * MIB - 3, 3 * MIB + 3), 206);
    // What it begins with was there.
    assert.equal(mark(across), 'HIT');
    assert.deepEqual(origin.ranges(), [sliceRange(2), sliceRange(3)]);
    const end = await edge.get('/film.mp4', range('-7'));
    assertBytes(end, FILE.subarray(5 * MIB - 7), 206);
    assert.equal(mark(end), 'MISS');
    assert.deepEqual(origin.ranges(), [sliceRange(2), sliceRange(3), sliceRange(4)]);
  });

  test('the last slice ends with the object', async (t) => {
    const { origin, edge } = await start(t, { object: { bytes: FILE.subarray(0, MIB + 10) } });
    assertBytes(await edge.get('/film.mp4'), FILE.subarray(0, MIB + 10));
    assert.deepEqual(origin.ranges(), [sliceRange(0), sliceRange(1, MIB + 10)]);
  });

  test('of an unknown length, the end is found by the first slice', async (t) => {
    const { origin, edge } = await start(t);
    assertBytes(await edge.get('/film.mp4', range('-7')), FILE.subarray(5 * MIB - 7), 206);
    assert.deepEqual(origin.ranges(), [sliceRange(0), sliceRange(4)]);
  });

  test('several ranges, conditions and HEAD are answered from the slices', async (t) => {
    const { origin, edge } = await start(t);
    const several = await edge.get('/film.mp4', range(`1-2,${4 * MIB}-${4 * MIB + 1}`));
    assert.equal(several.status, 206);
    assert.match(several.headers['content-type'] ?? '', /^multipart\/byteranges; boundary=/);
    for (const [from, to] of [
      [1, 2],
      [4 * MIB, 4 * MIB + 1],
    ] as const) {
      const part = `Content-Range: bytes ${from}-${to}/${5 * MIB}\r\n\r\n${FILE.subarray(from, to + 1).toString('latin1')}`;
      assert.ok(several.body.includes(part));
    }
    assert.equal(several.headers['content-length'], String(several.body.length));
    assert.deepEqual(origin.ranges(), [sliceRange(0), sliceRange(4)]);
    const unchanged = await edge.get('/film.mp4', { headers: ['If-None-Match', '"one"'] });
    assert.deepEqual([unchanged.status, mark(unchanged)], [304, 'HIT']);
    const head = await edge.get('/film.mp4', { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers['content-length'], mark(head)], [200, String(5 * MIB), 'HIT']);
    const held = await edge.get('/film.mp4', range('0-4', 'If-Range', '"one"'));
    assertBytes(held, FILE.subarray(0, 5), 206);
    const beyond = await edge.get('/film.mp4', range(`${6 * MIB}-`));
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${5 * MIB}`]);
    assert.equal(origin.requests.length, 2);
    assertBytes(await edge.get('/film.mp4', range('0-4', 'If-Range', '"other"')), FILE);
  });

  test('more ranges than eight are ignored', async (t) => {
    const { edge } = await start(t);
    const many = Array.from({ length: 9 }, (_, i) => `${i * 10}-${i * 10 + 1}`).join(',');
    assertBytes(await edge.get('/film.mp4', range(many)), FILE);
  });

  test('a range beyond an object that is not known passes the answer of the origin on', async (t) => {
    const { origin, edge } = await start(t);
    const beyond = await edge.get('/film.mp4', range(`${9 * MIB}-`));
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${5 * MIB}`]);
    assert.deepEqual(origin.ranges(), [sliceRange(9)]);
  });

  test('what fits into one slice costs one request, and is stored as the whole it is', async (t) => {
    for (const bytes of [FILE.subarray(0, 1), FILE.subarray(0, 1000), FILE.subarray(0, MIB)]) {
      const { origin, edge } = await start(t, { object: { bytes } });
      const first = await edge.get('/small');
      assertBytes(first, bytes);
      assert.deepEqual([mark(first), first.headers['content-range']], ['MISS', undefined]);
      await eventually('stored', async () => mark(await edge.get('/small')) === 'HIT');
      assertBytes(await edge.get('/small', range('0-0')), bytes.subarray(0, 1), 206);
      assert.equal(origin.requests.length, 1);
    }
  });

  test('a range of what fits into one slice is a 206, by one request', async (t) => {
    const { origin, edge } = await start(t, { object: { bytes: FILE.subarray(0, 1000) } });
    assertBytes(await edge.get('/small', range('10-19')), FILE.subarray(10, 20), 206);
    assert.equal((await edge.get('/small', range('20-29,40-49'))).status, 206);
    assertBytes(await edge.get('/small'), FILE.subarray(0, 1000));
    assert.equal(origin.requests.length, 1);
  });

  test('an empty object is fetched as it is', async (t) => {
    const { edge } = await start(t, { object: { bytes: Buffer.alloc(0) } });
    assertBytes(await edge.get('/empty'), Buffer.alloc(0));
  });

  test('an origin that gives no ranges gives the whole, which is stored like any other', async (t) => {
    const { origin, edge } = await start(t);
    origin.fail((_request, response, { bytes, headers }) => {
      response.writeHead(200, { ...headers, etag: '"one"', 'content-length': String(bytes.length) }).end(bytes);
      return true;
    });
    const first = await edge.get('/film.mp4', range('5-9'));
    assertBytes(first, FILE);
    assert.equal(mark(first), 'MISS');
    await eventually('stored', async () => mark(await edge.get('/film.mp4', range('5-9'))) === 'HIT');
    assert.equal(origin.requests.length, 1);
  });

  test('errors and redirects pass, and are stored as ever', async (t) => {
    for (const [status, isStored] of [
      [404, true],
      [403, false],
      [302, false],
      [500, false],
    ] as const) {
      const { origin, edge } = await start(t);
      const headers = { 'content-length': '4', location: '/', ...(isStored && { 'cache-control': 'max-age=10' }) };
      origin.fail((_request, response) => {
        response.writeHead(status, headers).end('text');
        return true;
      });
      assert.deepEqual([(await edge.get('/film.mp4')).status, (await edge.get('/film.mp4')).status], [status, status]);
      assert.equal(origin.requests.length, isStored ? 1 : 2, `${status}`);
    }
  });

  test('after an error that was stored, slices again', async (t) => {
    const { origin, edge, advance } = await start(t);
    origin.fail((_request, response) => {
      response.writeHead(404, { 'content-length': '0', 'cache-control': 'max-age=10' }).end();
      return true;
    });
    await edge.get('/film.mp4');
    origin.fail(undefined);
    advance(20_000);
    assertBytes(await edge.get('/film.mp4', range(`${MIB}-${MIB + 1}`)), FILE.subarray(MIB, MIB + 2), 206);
    assert.deepEqual(origin.ranges(), [sliceRange(0), sliceRange(1)]);
  });

  test('without a validator that tells its bytes from others, an object is fetched whole', async (t) => {
    for (const etag of [undefined, 'W/"one"', 'one']) {
      const { origin, edge } = await start(t, { object: { etag } });
      assertBytes(await edge.get('/film.mp4'), FILE);
      assert.deepEqual(origin.ranges(), [sliceRange(0), '-']);
      await eventually('stored', async () => mark(await edge.get('/film.mp4')) === 'HIT');
      // A range is the client's own then.
      const { origin: other, edge: another } = await start(t, { object: { etag } });
      assertBytes(
        await another.get('/film.mp4', range(`${2 * MIB}-${2 * MIB + 4}`)),
        FILE.subarray(2 * MIB, 2 * MIB + 5),
        206,
      );
      assert.deepEqual(other.ranges(), [sliceRange(2), `${2 * MIB}-${2 * MIB + 4}`]);
    }
  });

  test('Last-Modified alone is validator enough when it is older than the answer', async (t) => {
    const headers = { 'cache-control': 'max-age=60', 'last-modified': new Date(Date.now() - 60_000).toUTCString() };
    const { origin, edge } = await start(t, { object: { etag: undefined, headers } });
    assertBytes(await edge.get('/film.mp4'), FILE);
    assert.deepEqual(
      origin.ranges(),
      [0, 1, 2, 3, 4].map((slice) => sliceRange(slice)),
    );
    const { origin: other, edge: another } = await start(t, {
      object: {
        etag: undefined,
        headers: { ...headers, 'last-modified': new Date(Date.now() + 60_000).toUTCString() },
      },
    });
    assertBytes(await another.get('/film.mp4'), FILE);
    assert.deepEqual(other.ranges(), [sliceRange(0), '-']);
  });

  test('what may not be stored is not sliced', async (t) => {
    for (const headers of [
      { 'cache-control': 'no-store' },
      { 'cache-control': 'private' },
      { 'set-cookie': 'a=b', 'cache-control': 'max-age=60' },
    ]) {
      const { origin, edge } = await start(t, { object: { headers } });
      const first = await edge.get('/film.mp4');
      assertBytes(first, FILE);
      assertBytes(await edge.get('/film.mp4'), FILE);
      // For a while the key is not tried again.
      assert.deepEqual(origin.ranges(), [sliceRange(0), '-', '-']);
      assert.match(mark(first) ?? '', /^MISS (noStore|private|setCookie)$/);
    }
  });

  test('off, the range goes through', async (t) => {
    const { origin, edge } = await start(t, { site: { rangeBackSource: false } });
    await edge.get('/film.mp4', range('5-9'));
    await edge.get('/film.mp4');
    assert.deepEqual(origin.ranges(), ['5-9', '-']);
  });
});

describe('an object in slices over time', () => {
  test('when its time is over it is confirmed by the slice that is wanted, and its slices serve on', async (t) => {
    const { origin, edge, advance } = await start(t);
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

  test('an object that has changed by then begins anew, and nothing of the old one is mixed in', async (t) => {
    const { origin, edge, advance } = await start(t);
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

  test('one that shrank, vanished or lost its ranges', async (t) => {
    const { origin, edge, advance } = await start(t);
    await edge.get('/film.mp4');
    origin.set({ bytes: FILE.subarray(0, 10), etag: '"two"' });
    advance(120_000);
    const beyond = await edge.get('/film.mp4', range(`${4 * MIB}-`));
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, 'bytes */10']);
    advance(20_000);
    assertBytes(await edge.get('/film.mp4'), FILE.subarray(0, 10));
  });

  test('while the origin is down it serves stale, as far as its slices are there', async (t) => {
    const { origin, edge, advance } = await start(t);
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

  test('stale-while-revalidate serves at once and confirms behind it', async (t) => {
    const headers = { 'cache-control': 'max-age=60, stale-while-revalidate=600' };
    const { origin, edge, advance } = await start(t, { object: { headers } });
    await edge.get('/film.mp4');
    advance(120_000);
    const stale = await edge.get('/film.mp4');
    assertBytes(stale, FILE);
    assert.equal(mark(stale), 'STALE');
    await eventually('confirmed', async () => mark(await edge.get('/film.mp4', range('0-1'))) === 'HIT');
    assert.deepEqual(origin.ranges().slice(5), [sliceRange(0)]);
  });

  test('a purge, an unsafe method and the month make its slices absent', async (t) => {
    const { origin, edge, advance } = await start(t, { object: { headers: { 'cache-control': 'max-age=31536000' } } });
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

  test('clients of every coding share one object, also where the origin says that it varies', async (t) => {
    const headers = { 'cache-control': 'max-age=60', vary: 'Accept-Encoding' };
    const { origin, edge } = await start(t, { object: { headers } });
    for (const coding of ['gzip, br', 'identity', 'br;q=0.5']) {
      assertBytes(await edge.get('/film.mp4', { headers: ['Accept-Encoding', coding] }), FILE);
    }
    assert.equal(origin.requests.length, 5);
  });

  test('variants have slices of their own', async (t) => {
    const { origin, edge } = await start(t, { object: { headers: { 'cache-control': 'max-age=60', vary: 'X-Kind' } } });
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

describe('viewers of one object', () => {
  test('cause one request per slice, and one who leaves does not stop the others', async (t) => {
    const { origin, edge } = await start(t);
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

  test('a store that takes nothing: served slice by slice', async (t) => {
    const { origin, edge } = await start(t, { cacheBytes: MIB });
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

  test('one that does not read has no more than the next slice fetched for it', async (t) => {
    const { origin, edge } = await start(t, { object: { bytes: madeBytes(30 * MIB) } });
    const slow = connectRaw(edge.port);
    slow.socket.pause();
    slow.socket.write(`GET /film.mp4 HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    let before = -1;
    // Until the kernel's own buffers are full.
    await eventually('it stops', async () => {
      const seen = origin.requests.length;
      const isSame = seen === before && seen > 0;
      before = seen;
      if (!isSame) await new Promise((resolve) => setTimeout(resolve, 200));
      return isSame;
    });
    assert.ok(origin.requests.length < 20, String(origin.requests.length));
    slow.socket.destroy();
  });

  test('the log has the bytes of each', async (t) => {
    const { edge } = await start(t);
    await edge.get('/film.mp4', range('0-99'));
    await edge.get('/film.mp4', range('0-99'));
    await eventually('two lines', () => edge.log.length === 2);
    assert.deepEqual(
      edge.log.map((fields) => fields[9]),
      ['TCP_MISS/206', 'TCP_MEM_HIT/206'],
    );
    for (const fields of edge.log) assert.ok(Number(fields[4]) > 100 && Number(fields[4]) < 1000);
  });
});
