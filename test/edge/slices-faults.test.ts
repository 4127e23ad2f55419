/** Origins that give slices which do not belong together, or none: clients get the right bytes or see that they have not. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../src/edge/store/memory.ts';
import { SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import {
  type Fault,
  MIB,
  madeBytes,
  type ServedObject,
  sliceRange,
  startSliceableOrigin,
} from '../support/edge/sliceable.ts';
import { assertBytes, FILE, mark, range, startSliced } from '../support/edge/sliced.ts';
import { eventually } from '../support/eventually.ts';

test('memory of a slice that breaks off is free when the answer is cut', async (t) => {
  const store = new MemoryStore({ maxBytes: 64 * MIB });
  const { origin, edge } = await startSliced(t, { store });
  origin.fail((request, response, object) => {
    if (request.headers['range'] === `bytes=${sliceRange(0)}`) return false;
    response.writeHead(206, good(object));
    response.write(SLICE.subarray(0, MIB / 2), () => response.destroy());
    return true;
  });
  assert.equal((await edge.get('/film')).isWhole, false);
  await eventually('nothing is held', () => store.pool.orphanBytes === 0);
});

/** How a good answer for the second slice is made a bad one. */
type Head = Record<string, string>;

const SLICE = FILE.subarray(MIB, 2 * MIB);
const good = ({ headers }: ServedObject): Head => ({
  ...headers,
  etag: '"one"',
  'content-range': `bytes ${MIB}-${2 * MIB - 1}/${5 * MIB}`,
  'content-length': String(MIB),
});

const part = (response: ServerResponse, head: Head, body = SLICE) => void response.writeHead(206, head).end(body);

const FAULTS: Readonly<Record<string, (response: ServerResponse, object: ServedObject) => void>> = {
  'answers 403': (response) => void response.writeHead(403, { 'content-length': '6' }).end('denied'),
  'answers 404': (response) => void response.writeHead(404, { 'content-length': '4' }).end('gone'),
  'answers 416': (response) => void response.writeHead(416, { 'content-length': '0' }).end(),
  'answers 500': (response) => void response.writeHead(500, { 'content-length': '5' }).end('error'),
  redirects: (response) => void response.writeHead(302, { location: '/', 'content-length': '0' }).end(),
  'answers 304': (response) => void response.writeHead(304, { etag: '"one"' }).end(),
  'cuts the connection': (response) => void response.destroy(),
  'has another tag': (response, object) => part(response, { ...good(object), etag: '"two"' }, madeBytes(MIB, 'two')),
  'has no tag': (response, { headers }) => {
    const { etag, ...others } = good({ headers, bytes: FILE, etag: undefined });
    part(response, others, madeBytes(MIB, 'two'));
  },
  'has another length of the whole': (response, object) => {
    part(response, { ...good(object), 'content-range': `bytes ${MIB}-${2 * MIB - 1}/${6 * MIB}` });
  },
  'has an unknown length of the whole': (response, object) => {
    part(response, { ...good(object), 'content-range': `bytes ${MIB}-${2 * MIB - 1}/*` });
  },
  'is another slice': (response, object) => {
    const { 'content-range': _, ...others } = good(object);
    part(response, { ...others, 'content-range': `bytes 0-${MIB - 1}/${5 * MIB}` }, FILE.subarray(0, MIB));
  },
  'is less than requested': (response, object) => {
    const head = { ...good(object), 'content-range': `bytes ${MIB}-${MIB + 9}/${5 * MIB}`, 'content-length': '10' };
    part(response, head, SLICE.subarray(0, 10));
  },
  'has no Content-Range': (response, object) => {
    const { 'content-range': _, ...others } = good(object);
    part(response, others);
  },
  'is multipart': (response, object) => {
    const { 'content-range': _, ...others } = good(object);
    part(response, { ...others, 'content-type': 'multipart/byteranges; boundary=x' });
  },
  'claims a coding': (response, object) => part(response, { ...good(object), 'content-encoding': 'gzip' }),
  'is chunked': (response, object) => {
    const { 'content-length': _, ...others } = good(object);
    part(response, others);
  },
  'has a length that is not the range': (response, object) => {
    part(response, { ...good(object), 'content-length': '10' }, SLICE.subarray(0, 10));
  },
  'breaks off': (response, object) => {
    response.writeHead(206, good(object));
    response.write(SLICE.subarray(0, 1000), () => response.destroy());
  },
  'is the whole of another object': (response) => {
    response.writeHead(200, { etag: '"two"', 'content-length': '5' }).end('other');
  },
};

const ofSecond =
  (fail: (response: ServerResponse, object: ServedObject) => void, times = Number.POSITIVE_INFINITY): Fault =>
  (request, response, object) => {
    if (request.headers['range'] !== `bytes=${sliceRange(1)}` || times-- <= 0) return false;
    fail(response, object);
    return true;
  };

describe('a faulty second slice', () => {
  for (const [name, fail] of Object.entries(FAULTS)) {
    test(`a second slice that ${name} cuts an answer that has begun, and nothing wrong is stored`, async (t) => {
      const { origin, edge } = await startSliced(t);
      origin.fail(ofSecond(fail));
      const cut = await edge.get('/film.mp4');
      assert.equal(cut.status, 200);
      assert.ok(!cut.isWhole, 'the client sees that it is not whole');
      assert.ok(
        FILE.subarray(0, cut.body.length).equals(Buffer.from(cut.body, 'latin1')),
        'the bytes so far are those of the object',
      );
      await eventually('logged', () => edge.log[0]?.result === 'TCP_MISS/502');
      origin.fail(undefined);
      assertBytes(await edge.get('/film.mp4'), FILE);
      assertBytes(await edge.get('/film.mp4'), FILE);
    });

    test(`a second slice that ${name} once, before an answer has begun, is requested again`, async (t) => {
      const { origin, edge } = await startSliced(t);
      await edge.get('/film.mp4', range('0-0'));
      origin.fail(ofSecond(fail, 1));
      const received = await edge.get('/film.mp4', range(`${MIB + 5}-${MIB + 9}`));
      // An absent or broken answer is not requested again, except on a connection that was closed while it was idle.
      const isNoAnswer = ['cuts the connection', 'answers 304', 'breaks off'].includes(name);
      if (!isNoAnswer || (received.status === 206 && received.isWhole)) {
        assertBytes(received, FILE.subarray(MIB + 5, MIB + 10), 206);
      } else if (received.isWhole) {
        assert.equal(received.status, 502);
      }
      assertBytes(await edge.get('/film.mp4'), FILE);
    });

    test(`a second slice that ${name} each time leaves the answer to the origin, for the unchanged request`, async (t) => {
      const { origin, edge } = await startSliced(t);
      await edge.get('/film.mp4', range('0-0'));
      origin.fail(ofSecond(fail));
      const received = await edge.get('/film.mp4', range(`${MIB + 5}-${MIB + 9}`));
      if (received.status === 206) {
        const expected =
          name === 'has another tag' ? madeBytes(MIB, 'two').subarray(5, 10) : FILE.subarray(MIB + 5, MIB + 10);
        if (received.isWhole) assertBytes(received, expected, 206);
      } else {
        const direct = [403, 404, 416, 302, 502, 200];
        assert.ok(direct.includes(received.status), `${received.status}`);
      }
      origin.fail(undefined);
      edge.advance(120_000);
      origin.advance(120_000);
      assertBytes(await edge.get('/film.mp4'), FILE);
    });
  }
});

test('a first slice that breaks off before its first byte is answered 502', async (t) => {
  const { origin, edge } = await startSliced(t);
  origin.fail((_request, response, object) => {
    response.writeHead(206, { ...good(object), 'content-range': `bytes 0-${MIB - 1}/${5 * MIB}` });
    response.flushHeaders();
    setImmediate(() => response.destroy());
    return true;
  });
  const received = await edge.get('/film.mp4');
  assert.deepEqual([received.status, mark(received)], [502, 'ERROR originCut']);
});

test('an object that is replaced while it is read is cut, and the new one served after it', async (t) => {
  const { origin, edge } = await startSliced(t);
  const other = madeBytes(5 * MIB, 'two');
  origin.fail((request) => {
    if (request.headers['range'] === `bytes=${sliceRange(2)}`) origin.set({ bytes: other, etag: '"two"' });
    return false;
  });
  const cut = await edge.get('/film.mp4');
  assert.ok(!cut.isWhole);
  assert.ok(FILE.subarray(0, cut.body.length).equals(Buffer.from(cut.body, 'latin1')));
  assertBytes(await edge.get('/film.mp4'), other);
});

test('an object about which its origins disagree is soon fetched whole', async (t) => {
  const [one, two] = [
    await startSliceableOrigin(t, { etag: '"one"' }),
    await startSliceableOrigin(t, { etag: '"two"' }),
  ];
  const edge = await startTestEdge(t, [one.port, two.port], { cacheBytes: 64 * MIB });
  edge.put({ name: SITE_HOST, rangeBackSource: true });
  const wholes: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    const received = await edge.get('/film.mp4');
    assert.ok(FILE.subarray(0, received.body.length).equals(Buffer.from(received.body, 'latin1')));
    wholes.push(received.isWhole);
  }
  assert.deepEqual(wholes.slice(2), [true, true]);
});

test('a client that is refused takes nothing from the others that wait for the same slice', async (t) => {
  const { origin, edge } = await startSliced(t);
  await edge.get('/film.mp4', range('0-0'));
  const held: (() => void)[] = [];
  origin.fail((request, response) => {
    if (request.headers['x-key'] === 'right') return false;
    held.push(() => response.writeHead(403, { 'content-length': '6' }).end('denied'));
    return true;
  });
  const wanted = `bytes=${MIB}-${MIB + 4}`;
  const refused = edge.get('/film.mp4', { headers: ['Range', wanted] });
  await eventually('asked', () => held.length === 1);
  const letIn = Array.from({ length: 3 }, () =>
    edge.get('/film.mp4', { headers: ['Range', wanted, 'X-Key', 'right'] }),
  );
  held.shift()?.();
  for (const received of await Promise.all(letIn)) assertBytes(received, FILE.subarray(MIB, MIB + 5), 206);
  await eventually('asked in its own words', () => held.length === 1);
  held.shift()?.();
  assert.equal((await refused).status, 403);
  assert.equal(mark(await edge.get('/film.mp4', range('0-0'))), 'HIT');
});

test('a slice that is not for everyone is for its own client only', async (t) => {
  const { origin, edge } = await startSliced(t);
  await edge.get('/film.mp4', range('0-0'));
  origin.fail((_request, response, object) => {
    part(response, { ...good(object), 'cache-control': 'private' });
    return true;
  });
  const both = [range(`${MIB}-${MIB + 4}`), range(`${MIB + 9}-${MIB + 11}`)];
  const [a, b] = await Promise.all(both.map((each) => edge.get('/film.mp4', each)));
  assertBytes(a ?? assert.fail(), FILE.subarray(MIB, MIB + 5), 206);
  assertBytes(b ?? assert.fail(), FILE.subarray(MIB + 9, MIB + 12), 206);
  assert.equal(origin.ranges().filter((each) => each === sliceRange(1)).length, 2);
});
