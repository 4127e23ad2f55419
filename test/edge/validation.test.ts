/** Conditions, ranges, validation and invalidation as viewers see them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, type ScriptedOrigin, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';

const FRESH = { 'cache-control': 'max-age=60' };
const LAST_MODIFIED = 'Mon, 02 Nov 2026 10:00:00 GMT';

describe("the client's own conditions", () => {
  const stored = { ...FRESH, etag: '"1"', 'last-modified': LAST_MODIFIED };
  const rows: readonly (readonly [what: string, headers: readonly string[], status: number])[] = [
    ['a matching tag', ['If-None-Match', '"1"'], 304],
    ['a weak form of it in a list', ['If-None-Match', '"0", W/"1"'], 304],
    ['another tag', ['If-None-Match', '"2"'], 200],
    ['a tag rules over a date', ['If-None-Match', '"2"', 'If-Modified-Since', LAST_MODIFIED], 200],
    ['the same date', ['If-Modified-Since', LAST_MODIFIED], 304],
    ['an earlier date', ['If-Modified-Since', 'Sun, 01 Nov 2026 10:00:00 GMT'], 200],
  ];
  for (const [what, headers, status] of rows) {
    test(`the client's condition, ${what}: ${status}, on a cold cache and on a hit`, async (t) => {
      const origin = await startOrigin(t, reply('hello', stored));
      const edge = await startTestEdge(t, [origin.port]);
      for (const mark of ['MISS', 'HIT']) {
        const received = await edge.get('/', { headers });
        assert.deepEqual([received.status, received.headers['x-cache']], [status, mark]);
        assert.equal(received.headers['etag'], '"1"');
        assert.equal(received.body, status === 304 ? '' : 'hello');
      }
      // The cache is filled by a request without conditions, and whole.
      assert.equal(origin.requests[0]?.headers['if-none-match'], undefined);
      assert.equal((await edge.get('/')).body, 'hello');
      assert.equal(origin.requests.length, 1);
    });
  }

  test('If-Match goes to the origin, and its 412 comes back', async (t) => {
    const origin = await startOrigin(t, reply('no', {}, 412));
    const edge = await startTestEdge(t, [origin.port]);
    const received = await edge.get('/', { headers: ['If-Match', '"x"'] });
    assert.deepEqual([received.status, received.headers['x-cache']], [412, 'BYPASS precondition']);
    assert.equal(origin.requests[0]?.headers['if-match'], '"x"');
  });
});

describe('ranges of stored objects', () => {
  const body = 'abcdefghijklmnopqrstuvwxyz';
  const rows: readonly (readonly [
    range: string,
    extra: readonly string[],
    status: number,
    expected: string,
    contentRange: string | undefined,
  ])[] = [
    ['bytes=0-4', [], 206, 'abcde', 'bytes 0-4/26'],
    ['bytes=20-', [], 206, 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=-3', [], 206, 'xyz', 'bytes 23-25/26'],
    ['bytes=24-99', [], 206, 'yz', 'bytes 24-25/26'],
    ['bytes=26-', [], 416, '', 'bytes */26'],
    ['lines=1-2', [], 200, body, undefined],
    ['bytes=5-1', [], 200, body, undefined],
    ['bytes=0-1', ['If-Range', '"1"'], 206, 'ab', 'bytes 0-1/26'],
    ['bytes=0-1', ['If-Range', '"2"'], 200, body, undefined],
    ['bytes=0-1', ['If-None-Match', '"1"'], 304, '', undefined],
  ];
  for (const [range, extra, status, expected, contentRange] of rows) {
    test(`the range ${range} ${extra.join(' ')}: ${status} from the store`, async (t) => {
      const origin = await startOrigin(t, reply(body, { ...FRESH, etag: '"1"' }));
      const edge = await startTestEdge(t, [origin.port]);
      await edge.get('/');
      const received = await edge.get('/', { headers: ['Range', range, ...extra] });
      assert.deepEqual(
        [received.status, received.body, received.headers['content-range'], received.headers['x-cache']],
        [status, expected, contentRange, 'HIT'],
      );
      assert.equal(origin.requests.length, 1);
    });
  }

  test('several ranges arrive in parts', async (t) => {
    const origin = await startOrigin(t, reply(body, { ...FRESH, 'content-type': 'text/plain' }));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/');
    const { status, headers, body: received, isWhole } = await edge.get('/', { headers: ['Range', 'bytes=0-1,-2'] });
    const [, boundary] = /^multipart\/byteranges; boundary=(\w+)$/.exec(headers['content-type'] ?? '') ?? [];
    assert.ok(boundary);
    assert.deepEqual([status, isWhole, headers['content-length']], [206, true, String(received.length)]);
    assert.deepEqual(
      received.match(/Content-Range: .*/g)?.map((line) => line.trim()),
      ['Content-Range: bytes 0-1/26', 'Content-Range: bytes 24-25/26'],
    );
    assert.ok(received.includes('\r\n\r\nab\r\n') && received.endsWith(`yz\r\n--${boundary}--\r\n`));
  });

  test('a range miss is passed on unchanged; its part serves ranges inside it, and never as the whole', async (t) => {
    const origin = await startOrigin(t, (request, response) => {
      if (request.headers['range'] === undefined) return reply(body, FRESH)(request, response);
      reply('cde', { ...FRESH, 'content-range': 'bytes 2-4/26', etag: '"1"' }, 206)(request, response);
    });
    const edge = await startTestEdge(t, [origin.port]);
    const headers = ['Range', 'bytes=2-4', 'If-Range', '"1"'];
    const part = await edge.get('/', { headers });
    assert.deepEqual([part.status, part.body, part.headers['x-cache']], [206, 'cde', 'MISS']);
    assert.equal(origin.requests[0]?.headers['if-range'], '"1"');
    const inside = await edge.get('/', { headers: ['Range', 'bytes=3-4'] });
    assert.deepEqual([inside.status, inside.body, inside.headers['x-cache']], [206, 'de', 'HIT']);
    assert.equal(inside.headers['content-range'], 'bytes 3-4/26');
    const whole = await edge.get('/');
    assert.deepEqual([whole.status, whole.body, whole.headers['x-cache']], [200, body, 'MISS']);
    assert.equal((await edge.get('/', { headers: ['Range', 'bytes=2-4'] })).body, 'cde');
    assert.equal(origin.requests.length, 2);
  });
});

describe('validation', () => {
  const short = { 'cache-control': 'max-age=10', etag: '"1"', 'last-modified': LAST_MODIFIED };

  async function startStale(t: { after(work: () => unknown): void }, headers: Record<string, string> = short) {
    const origin = await startOrigin(t, reply('hello', headers));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/');
    edge.advance(20_000);
    return { origin, edge };
  }

  test('a stale response is validated with its own validators; a 304 renews it and the client gets the body', async (t) => {
    const { origin, edge } = await startStale(t);
    origin.answer(
      (_request, response) =>
        void response.writeHead(304, { ...short, ...FRESH, 'x-new': '1', 'content-length': '0' }).end(),
    );
    const received = await edge.get('/');
    assert.deepEqual([received.status, received.body, received.headers['x-cache']], [200, 'hello', 'REVALIDATED']);
    assert.deepEqual([received.headers['x-new'], received.headers['content-length']], ['1', '5']);
    const { headers } = origin.requests[1] ?? assert.fail();
    assert.deepEqual([headers['if-none-match'], headers['if-modified-since']], ['"1"', LAST_MODIFIED]);
    const hit = await edge.get('/');
    assert.deepEqual([hit.headers['x-cache'], hit.headers['x-new'], hit.body], ['HIT', '1', 'hello']);
  });

  test('a client with a current copy gets 304 after the validation', async (t) => {
    const { origin, edge } = await startStale(t);
    origin.answer((_request, response) => void response.writeHead(304, short).end());
    const received = await edge.get('/', { headers: ['If-None-Match', '"1"'] });
    assert.deepEqual([received.status, received.headers['x-cache']], [304, 'REVALIDATED']);
  });

  test('a 304 that forbids storing is used once, and the stored response is dropped', async (t) => {
    const { origin, edge } = await startStale(t);
    origin.answer(
      (_request, response) => void response.writeHead(304, { 'cache-control': 'no-store', etag: '"1"' }).end(),
    );
    assert.deepEqual([(await edge.get('/')).body, origin.requests[1]?.headers['if-none-match']], ['hello', '"1"']);
    origin.answer(reply('anew', FRESH));
    assert.equal((await edge.get('/')).body, 'anew');
    assert.equal(origin.requests[2]?.headers['if-none-match'], undefined);
  });

  test('a HEAD that names the same object renews it, one that names another triggers a validation', async (t) => {
    const { origin, edge } = await startStale(t);
    origin.answer(reply('hello', { ...short, ...FRESH }));
    assert.equal((await edge.get('/', { method: 'HEAD' })).headers['x-cache'], 'MISS method');
    assert.deepEqual([(await edge.get('/')).body, (await edge.get('/')).headers['x-cache']], ['hello', 'HIT']);
    assert.equal(origin.requests.length, 2);
    edge.advance(100_000);
    origin.answer(reply('longer', { ...FRESH, etag: '"2"' }));
    await edge.get('/', { method: 'HEAD' });
    assert.equal((await edge.get('/')).body, 'longer');
  });

  test('a 200 to a validation replaces the stored response', async (t) => {
    const { origin, edge } = await startStale(t);
    origin.answer(reply('next', { ...FRESH, etag: '"2"' }));
    assert.deepEqual([(await edge.get('/')).body, (await edge.get('/')).headers['x-cache']], ['next', 'HIT']);
  });

  test('a 304 that names another object is not believed: the whole is fetched', async (t) => {
    const { origin, edge } = await startStale(t);
    origin.answer((request, response) => {
      if ('if-none-match' in request.headers) return void response.writeHead(304, { etag: '"other"' }).end();
      reply('whole', { ...FRESH, etag: '"other"' })(request, response);
    });
    const received = await edge.get('/');
    assert.deepEqual([received.status, received.body, received.headers['x-cache']], [200, 'whole', 'MISS']);
  });

  test('an unexpected 304 is an error of the origin', async (t) => {
    const origin = await startOrigin(t, (_request, response) => void response.writeHead(304).end());
    const edge = await startTestEdge(t, [origin.port]);
    const received = await edge.get('/');
    assert.deepEqual([received.status, received.headers['x-cache']], [502, 'ERROR originMalformed']);
  });

  test('a stored response replaces an unreachable origin for a day after its lifetime, not longer', async (t) => {
    const { origin, edge } = await startStale(t);
    await origin.stop();
    const stale = await edge.get('/');
    assert.deepEqual([stale.status, stale.body, stale.headers['x-cache']], [200, 'hello', 'STALE']);
    edge.advance(24 * 3600 * 1000);
    const late = await edge.get('/');
    assert.deepEqual([late.status, late.headers['x-cache']], [504, 'ERROR originConnect']);
  });

  test('must-revalidate forbids to replace an unreachable origin', async (t) => {
    const { origin, edge } = await startStale(t, { ...short, 'cache-control': 'max-age=10, must-revalidate' });
    await origin.stop();
    assert.equal((await edge.get('/')).status, 504);
  });

  test('a 503 passes through, or within stale-if-error the stored response serves, its bytes once', async (t) => {
    const without = await startStale(t);
    without.origin.answer(reply('down', {}, 503));
    assert.deepEqual([(await without.edge.get('/')).status, (await without.edge.get('/')).body], [503, 'down']);
    const within = await startStale(t, { ...short, 'cache-control': 'max-age=10, stale-if-error=60' });
    within.origin.answer(reply('down', {}, 503));
    const received = await within.edge.get('/');
    assert.deepEqual([received.status, received.body, received.headers['x-cache']], [200, 'hello', 'STALE']);
  });

  test('stale-while-revalidate serves at once and renews in the background, once', async (t) => {
    const { origin, edge } = await startStale(t, {
      ...short,
      'cache-control': 'max-age=10, stale-while-revalidate=60',
    });
    let renew = () => {};
    origin.answer((request, response) => {
      renew = () => reply('next', FRESH)(request, response);
    });
    for (let i = 0; i < 3; i++) {
      const received = await edge.get('/');
      assert.deepEqual([received.body, received.headers['x-cache']], ['hello', 'STALE']);
    }
    await eventually('asked', () => origin.requests.length === 2);
    renew();
    await eventually('renewed', async () => (await edge.get('/')).body === 'next');
    assert.equal(origin.requests.length, 2);
  });
});

describe('invalidation', () => {
  const cases: readonly (readonly [method: string, status: number, drops: boolean])[] = [
    ['POST', 200, true],
    ['PUT', 204, true],
    ['DELETE', 302, true],
    ['PATCH', 404, false],
    ['POST', 500, false],
    ['OPTIONS', 200, false],
  ];
  for (const [method, status, drops] of cases) {
    test(`${method} answered ${status} ${drops ? 'drops' : 'keeps'} the stored object`, async (t) => {
      const origin = await startOrigin(t, (request, response) => {
        reply(status === 204 ? '' : 'x', FRESH, request.method === 'GET' ? 200 : status)(request, response);
      });
      const edge = await startTestEdge(t, [origin.port]);
      await edge.get('/');
      const changed = await edge.get('/', { method, ...(method === 'OPTIONS' ? {} : { body: 'data' }) });
      assert.deepEqual([changed.status, changed.headers['x-cache']], [status, 'BYPASS method']);
      edge.advance(1);
      assert.equal((await edge.get('/')).headers['x-cache'], drops ? 'MISS' : 'HIT');
    });
  }

  test('Location and Content-Location of the same site are invalidated too, others are not', async (t) => {
    const origin: ScriptedOrigin = await startOrigin(t, (request, response) => {
      if (request.method === 'GET') return reply('x', FRESH)(request, response);
      reply('', { location: '/a', 'content-location': `http://${SITE_HOST}/b` }, 201)(request, response);
    });
    const edge = await startTestEdge(t, [origin.port]);
    for (const path of ['/a', '/b', '/c']) await edge.get(path);
    await edge.get('/new', { method: 'POST', body: 'x' });
    edge.advance(1);
    const marks = await Promise.all(['/a', '/b', '/c'].map(async (path) => (await edge.get(path)).headers['x-cache']));
    assert.deepEqual(marks, ['MISS', 'MISS', 'HIT']);
  });
});
