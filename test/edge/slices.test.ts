/** Objects of a domain with range back-source: fetched in slices of 1 MiB, stored in them, served from them. Edge rule 9 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MIB, sliceRange } from '../support/edge/sliceable.ts';
import { assertBytes, FILE, mark, range, startSliced } from '../support/edge/sliced.ts';
import { eventually } from '../support/eventually.ts';

describe('slices', () => {
  test('a whole object is fetched in slices, each once, and then served from them', async (t) => {
    const { origin, edge } = await startSliced(t);
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
    const { origin, edge } = await startSliced(t);
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
    const { origin, edge } = await startSliced(t, { object: { bytes: FILE.subarray(0, MIB + 10) } });
    assertBytes(await edge.get('/film.mp4'), FILE.subarray(0, MIB + 10));
    assert.deepEqual(origin.ranges(), [sliceRange(0), sliceRange(1, MIB + 10)]);
  });

  test('the first slice finds the end of an object of unknown length', async (t) => {
    const { origin, edge } = await startSliced(t);
    assertBytes(await edge.get('/film.mp4', range('-7')), FILE.subarray(5 * MIB - 7), 206);
    assert.deepEqual(origin.ranges(), [sliceRange(0), sliceRange(4)]);
  });

  test('several ranges, conditions and HEAD are answered from the slices', async (t) => {
    const { origin, edge } = await startSliced(t);
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

  test('more than eight ranges are ignored', async (t) => {
    const { edge } = await startSliced(t);
    const many = Array.from({ length: 9 }, (_, i) => `${i * 10}-${i * 10 + 1}`).join(',');
    assertBytes(await edge.get('/film.mp4', range(many)), FILE);
  });

  test("a range beyond an unknown object passes the origin's answer on", async (t) => {
    const { origin, edge } = await startSliced(t);
    const beyond = await edge.get('/film.mp4', range(`${9 * MIB}-`));
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${5 * MIB}`]);
    assert.deepEqual(origin.ranges(), [sliceRange(9)]);
  });

  test('an object within one slice costs one request, and is stored whole', async (t) => {
    for (const bytes of [FILE.subarray(0, 1), FILE.subarray(0, 1000), FILE.subarray(0, MIB)]) {
      const { origin, edge } = await startSliced(t, { object: { bytes } });
      const first = await edge.get('/small');
      assertBytes(first, bytes);
      assert.deepEqual([mark(first), first.headers['content-range']], ['MISS', undefined]);
      await eventually('stored', async () => mark(await edge.get('/small')) === 'HIT');
      assertBytes(await edge.get('/small', range('0-0')), bytes.subarray(0, 1), 206);
      assert.equal(origin.requests.length, 1);
    }
  });

  test('a range of an object within one slice is a 206, by one request', async (t) => {
    const { origin, edge } = await startSliced(t, { object: { bytes: FILE.subarray(0, 1000) } });
    assertBytes(await edge.get('/small', range('10-19')), FILE.subarray(10, 20), 206);
    assert.equal((await edge.get('/small', range('20-29,40-49'))).status, 206);
    assertBytes(await edge.get('/small'), FILE.subarray(0, 1000));
    assert.equal(origin.requests.length, 1);
  });

  test('an empty object is fetched as it is', async (t) => {
    const { edge } = await startSliced(t, { object: { bytes: Buffer.alloc(0) } });
    assertBytes(await edge.get('/empty'), Buffer.alloc(0));
  });

  test('an origin without ranges sends the whole, which is stored like any other', async (t) => {
    const { origin, edge } = await startSliced(t);
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

  test('errors and redirects instead of a slice pass, and are stored as usual', async (t) => {
    for (const [status, isStored] of [
      [404, true],
      [403, false],
      [302, false],
      [500, false],
    ] as const) {
      const { origin, edge } = await startSliced(t);
      const headers = { 'content-length': '4', location: '/', ...(isStored && { 'cache-control': 'max-age=10' }) };
      origin.fail((_request, response) => {
        response.writeHead(status, headers).end('text');
        return true;
      });
      assert.deepEqual([(await edge.get('/film.mp4')).status, (await edge.get('/film.mp4')).status], [status, status]);
      assert.equal(origin.requests.length, isStored ? 1 : 2, `${status}`);
    }
  });

  test('an object is sliced again after an error that was stored', async (t) => {
    const { origin, edge, advance } = await startSliced(t);
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

  test('an object without a strong validator is fetched whole', async (t) => {
    for (const etag of [undefined, 'W/"one"', 'one']) {
      const { origin, edge } = await startSliced(t, { object: { etag } });
      assertBytes(await edge.get('/film.mp4'), FILE);
      assert.deepEqual(origin.ranges(), [sliceRange(0), '-']);
      await eventually('stored', async () => mark(await edge.get('/film.mp4')) === 'HIT');
      // A range is the client's own then.
      const { origin: other, edge: another } = await startSliced(t, { object: { etag } });
      assertBytes(
        await another.get('/film.mp4', range(`${2 * MIB}-${2 * MIB + 4}`)),
        FILE.subarray(2 * MIB, 2 * MIB + 5),
        206,
      );
      assert.deepEqual(other.ranges(), [sliceRange(2), `${2 * MIB}-${2 * MIB + 4}`]);
    }
  });

  test('Last-Modified alone is a validator if it is older than the answer', async (t) => {
    const headers = { 'cache-control': 'max-age=60', 'last-modified': new Date(Date.now() - 60_000).toUTCString() };
    const { origin, edge } = await startSliced(t, { object: { etag: undefined, headers } });
    assertBytes(await edge.get('/film.mp4'), FILE);
    assert.deepEqual(
      origin.ranges(),
      [0, 1, 2, 3, 4].map((slice) => sliceRange(slice)),
    );
    const { origin: other, edge: another } = await startSliced(t, {
      object: {
        etag: undefined,
        headers: { ...headers, 'last-modified': new Date(Date.now() + 60_000).toUTCString() },
      },
    });
    assertBytes(await another.get('/film.mp4'), FILE);
    assert.deepEqual(other.ranges(), [sliceRange(0), '-']);
  });

  test('an uncacheable object is not sliced', async (t) => {
    for (const headers of [
      { 'cache-control': 'no-store' },
      { 'cache-control': 'private' },
      { 'set-cookie': 'a=b', 'cache-control': 'max-age=60' },
    ]) {
      const { origin, edge } = await startSliced(t, { object: { headers } });
      const first = await edge.get('/film.mp4');
      assertBytes(first, FILE);
      assertBytes(await edge.get('/film.mp4'), FILE);
      // For a while the key is not tried again.
      assert.deepEqual(origin.ranges(), [sliceRange(0), '-', '-']);
      assert.match(mark(first) ?? '', /^MISS (noStore|private|setCookie)$/);
    }
  });

  test('a range is passed on if slicing is off', async (t) => {
    const { origin, edge } = await startSliced(t, { site: { rangeBackSource: false } });
    await edge.get('/film.mp4', range('5-9'));
    await edge.get('/film.mp4');
    assert.deepEqual(origin.ranges(), ['5-9', '-']);
  });
});
