/** Parts of objects: stored, served, joined and completed; and a POST's answer that serves later GETs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTestEdge } from '../support/edge.ts';
import { eventually } from '../support/eventually.ts';
import { reply, type SeenRequest, startOrigin } from '../support/origin.ts';

const BODY = 'abcdefghijklmnopqrstuvwxyz';
const FRESH = { 'cache-control': 'max-age=60', 'content-type': 'text/plain' };

/** An origin that understands single ranges, and If-Range with the tag of the moment. */
function ranged(etag: () => string | undefined, body = () => BODY) {
  return (request: SeenRequest, response: Parameters<ReturnType<typeof reply>>[1]) => {
    const tag = etag();
    const headers = { ...FRESH, ...(tag !== undefined && { etag: tag }) };
    const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers['range'] ?? '') ?? [];
    const isHeld = request.headers['if-range'] === undefined || request.headers['if-range'] === tag;
    if (from === '' || !isHeld) return reply(body(), headers)(request, response);
    const first = Number(from);
    const last = to === '' ? body().length - 1 : Math.min(Number(to), body().length - 1);
    const part = { ...headers, 'content-range': `bytes ${first}-${last}/${body().length}` };
    reply(body().slice(first, last + 1), part, 206)(request, response);
  };
}

const range = (text: string) => ({ headers: ['Range', text] });

describe('parts', () => {
  test('touching parts become one, parts with a gap do not, and all parts become the whole', async (t) => {
    const origin = await startOrigin(
      t,
      ranged(() => '"1"'),
    );
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/', range('bytes=0-4'));
    await edge.get('/', range('bytes=5-9'));
    await eventually('joined', async () => (await edge.get('/', range('bytes=3-7'))).headers['x-cache'] === 'HIT');
    const across = await edge.get('/', range('bytes=2-8'));
    assert.deepEqual([across.status, across.body, across.headers['content-range']], [206, 'cdefghi', 'bytes 2-8/26']);
    await edge.get('/', range('bytes=10-25'));
    await eventually('whole', async () => (await edge.get('/')).headers['x-cache'] === 'HIT');
    const whole = await edge.get('/');
    assert.deepEqual([whole.status, whole.body, whole.headers['content-range']], [200, BODY, undefined]);
  });

  test('a part that covers the object is the whole', async (t) => {
    const origin = await startOrigin(
      t,
      ranged(() => undefined),
    );
    const edge = await startTestEdge(t, [origin.port]);
    const part = await edge.get('/', range('bytes=0-'));
    assert.deepEqual([part.status, part.headers['content-range']], [206, 'bytes 0-25/26']);
    const whole = await edge.get('/');
    assert.deepEqual([whole.status, whole.body, whole.headers['x-cache']], [200, BODY, 'HIT']);
    assert.deepEqual([whole.headers['content-range'], whole.headers['content-length']], [undefined, '26']);
    assert.equal((await edge.get('/', range('bytes=-1'))).body, 'z');
    assert.equal(origin.requests.length, 1);
  });

  test('a stored beginning is completed by fetching only the rest, on condition that the object is the same', async (t) => {
    const origin = await startOrigin(
      t,
      ranged(() => '"1"'),
    );
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/', range('bytes=0-9'));
    const whole = await edge.get('/');
    assert.deepEqual([whole.status, whole.body, whole.headers['x-cache']], [200, BODY, 'MISS']);
    assert.deepEqual([whole.headers['content-length'], whole.headers['content-range']], ['26', undefined]);
    assert.deepEqual(
      origin.requests.slice(1).map(({ headers }) => [headers['range'], headers['if-range']]),
      [['bytes=10-', '"1"']],
    );
    assert.deepEqual([(await edge.get('/')).body, (await edge.get('/')).headers['x-cache']], [BODY, 'HIT']);
  });

  test('a stored beginning of a changed object is replaced by the whole', async (t) => {
    let version = 1;
    const origin = await startOrigin(
      t,
      ranged(
        () => `"${version}"`,
        () => (version === 1 ? BODY : BODY.toUpperCase()),
      ),
    );
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/', range('bytes=0-9'));
    version = 2;
    assert.equal((await edge.get('/')).body, BODY.toUpperCase());
    assert.equal((await edge.get('/', range('bytes=0-3'))).body, 'ABCD');
  });

  test('parts that cannot be proven to belong together are fetched whole: no tag, another tag, a short rest', async (t) => {
    const others: readonly (readonly [string, Record<string, string>, string])[] = [
      ['no tag', {}, 'bytes 10-25/26'],
      ['another tag', { etag: '"2"' }, 'bytes 10-25/26'],
      ['a weak tag', { etag: 'W/"1"' }, 'bytes 10-25/26'],
      ['another length', { etag: '"1"' }, 'bytes 10-25/27'],
      ['not all of the rest', { etag: '"1"' }, 'bytes 10-20/26'],
      ['from elsewhere', { etag: '"1"' }, 'bytes 12-25/26'],
    ];
    for (const [what, headers, contentRange] of others) {
      const origin = await startOrigin(
        t,
        ranged(() => '"1"'),
      );
      const edge = await startTestEdge(t, [origin.port]);
      await edge.get('/', range('bytes=0-9'));
      origin.answer((request, response) => {
        if (request.headers['range'] === undefined) return reply(BODY, FRESH)(request, response);
        const [, first = 0, last = 0] = /(\d+)-(\d+)/.exec(contentRange) ?? [];
        const part = BODY.slice(Number(first), Number(last) + 1).toUpperCase();
        reply(part, { ...FRESH, ...headers, 'content-range': contentRange }, 206)(request, response);
      });
      const whole = await edge.get('/');
      assert.deepEqual([whole.status, whole.body, whole.isWhole], [200, BODY, true], what);
      assert.equal(origin.requests.length, 3, what);
    }
  });

  test('a rest that breaks off cuts the client, and the beginning stays stored', async (t) => {
    const origin = await startOrigin(
      t,
      ranged(() => '"1"'),
    );
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/', range('bytes=0-9'));
    origin.answer((_request, response) => {
      response.writeHead(206, { ...FRESH, etag: '"1"', 'content-length': '16', 'content-range': 'bytes 10-25/26' });
      response.write('klm', () => response.destroy());
    });
    assert.equal((await edge.get('/')).isWhole, false);
    origin.answer(ranged(() => '"1"'));
    assert.deepEqual([(await edge.get('/')).body, origin.requests.at(-1)?.headers['range']], [BODY, 'bytes=10-']);
  });

  test('a part whose body is shorter than it says is not stored', async (t) => {
    const origin = await startOrigin(t, (_request, response) => {
      response.writeHead(206, { ...FRESH, etag: '"1"', 'content-range': 'bytes 0-9/26' });
      response.end('abc');
    });
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/', range('bytes=0-9'));
    await edge.get('/', range('bytes=0-9'));
    assert.equal(origin.requests.length, 2);
  });

  test('several parts in one answer pass through and are not stored', async (t) => {
    const headers = { ...FRESH, 'content-type': 'multipart/byteranges; boundary=x', 'content-range': 'bytes 0-4/26' };
    const origin = await startOrigin(t, reply('--x--', headers, 206));
    const edge = await startTestEdge(t, [origin.port]);
    assert.equal((await edge.get('/', range('bytes=0-1,3-4'))).headers['x-cache'], 'MISS contentRange');
  });

  test('a stored part answers If-Range, HEAD and ranges outside it as it must', async (t) => {
    const origin = await startOrigin(
      t,
      ranged(() => '"1"'),
    );
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/', range('bytes=0-9'));
    const same = await edge.get('/', { headers: ['Range', 'bytes=0-1', 'If-Range', '"1"'] });
    assert.deepEqual([same.status, same.body, same.headers['x-cache']], [206, 'ab', 'HIT']);
    const outside = await edge.get('/', range('bytes=99-'));
    assert.deepEqual([outside.status, outside.headers['content-range']], [416, 'bytes */26']);
    assert.equal((await edge.get('/', { method: 'HEAD' })).headers['content-length'], '26');
    const other = await edge.get('/', { headers: ['Range', 'bytes=0-1', 'If-Range', '"0"'] });
    assert.deepEqual([other.status, other.body], [200, BODY]);
  });

  test('a stale part is validated, and answers with its bytes', async (t) => {
    const origin = await startOrigin(
      t,
      ranged(() => '"1"'),
    );
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/', range('bytes=0-9'));
    edge.advance(61_000);
    // Its Date is by the real clock, from which the edge's has been moved.
    const renewed = { 'cache-control': 'max-age=600', etag: '"1"' };
    origin.answer((_request, response) => response.writeHead(304, renewed).end());
    const part = await edge.get('/', range('bytes=1-2'));
    assert.deepEqual([part.status, part.body, part.headers['x-cache']], [206, 'bc', 'REVALIDATED']);
    assert.equal((await edge.get('/', range('bytes=1-2'))).headers['x-cache'], 'HIT');
  });
});

test('more than eight ranges are ignored', async (t) => {
  const origin = await startOrigin(t, reply(BODY, FRESH));
  const edge = await startTestEdge(t, [origin.port]);
  await edge.get('/');
  const eight = await edge.get('/', range('bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14'));
  assert.match(eight.headers['content-type'] ?? '', /^multipart/);
  const nine = await edge.get('/', range('bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16'));
  assert.deepEqual([nine.status, nine.body], [200, BODY]);
});

describe("a POST's answer that is its own address's representation", () => {
  const own = { ...FRESH, 'content-location': '/thing' };

  test("a POST's answer that represents its own address serves later GETs", async (t) => {
    const origin = await startOrigin(t, reply('old', FRESH));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/thing');
    origin.answer(reply('new', own));
    const posted = await edge.get('/thing', { method: 'POST', body: 'x' });
    assert.deepEqual([posted.body, posted.headers['x-cache']], ['new', 'BYPASS method']);
    const after = await edge.get('/thing');
    assert.deepEqual([after.body, after.headers['x-cache']], ['new', 'HIT']);
    assert.equal(origin.requests.length, 2);
  });

  const rows: readonly (readonly [what: string, headers: Record<string, string>, path?: string, status?: number])[] = [
    ['no Content-Location', FRESH],
    ['another Content-Location', { ...FRESH, 'content-location': '/other' }],
    ['no explicit lifetime', { 'content-location': '/thing', 'last-modified': 'Mon, 02 Nov 2026 10:00:00 GMT' }],
    ['a status that is no success', own, '/thing', 303],
    ['a path with dot segments', own, '/x/../thing'],
  ];
  for (const [what, headers, path = '/thing', status = 200] of rows) {
    test(`a POST's answer with ${what} invalidates the object and is not stored`, async (t) => {
      const origin = await startOrigin(t, reply('old', FRESH));
      const edge = await startTestEdge(t, [origin.port]);
      await edge.get('/thing');
      origin.answer(reply('posted', headers, status));
      await edge.get(path, { method: 'POST', body: 'x' });
      origin.answer(reply('fetched', FRESH));
      assert.equal((await edge.get('/thing')).body, 'fetched');
    });
  }

  test('a GET in flight during a POST does not replace its answer', async (t) => {
    let late: (() => void) | undefined;
    const origin = await startOrigin(t, (request, response) => {
      if (request.method === 'POST') return reply('new', own)(request, response);
      late = () => reply('old', FRESH)(request, response);
    });
    const edge = await startTestEdge(t, [origin.port]);
    const slow = edge.get('/thing');
    await eventually('at the origin', () => late !== undefined);
    edge.advance(10);
    await edge.get('/thing', { method: 'POST', body: 'x' });
    late?.();
    assert.equal((await slow).body, 'old');
    assert.deepEqual([(await edge.get('/thing')).body, origin.requests.length], ['new', 2]);
  });
});
