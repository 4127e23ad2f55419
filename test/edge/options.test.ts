/** What a site may choose about caching, as viewers see it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CacheSettings } from '../../src/model/settings.ts';
import type { SiteSpec } from '../../src/sites/spec.ts';
import { SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { type Answer, reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';

const FRESH = { 'cache-control': 'max-age=60' };
const COOKIE = { ...FRESH, 'set-cookie': 'a=b' };

async function start(
  t: { after(work: () => unknown): void },
  script: Answer,
  cache: Partial<CacheSettings>,
  type: SiteSpec['type'] = 'static',
) {
  const origin = await startOrigin(t, script);
  const edge = await startTestEdge(t, [origin.port]);
  edge.put({ name: SITE_HOST, cache, type });
  return { origin, edge };
}

describe('set_cookie', () => {
  test('set_cookie bypass: each client has a cookie of its own', async (t) => {
    const { edge } = await start(t, reply('x', COOKIE), {});
    for (let i = 0; i < 2; i++) assert.equal((await edge.get('/')).headers['x-cache'], 'MISS setCookie');
  });

  test('set_cookie store: the cookie is stored if the lifetime is explicit', async (t) => {
    const { edge, origin } = await start(t, reply('x', COOKIE), { setCookie: 'store' });
    await edge.get('/');
    const hit = await edge.get('/');
    assert.deepEqual([hit.headers['x-cache'], hit.headers['set-cookie']], ['HIT', 'a=b']);
    origin.answer(reply('x', { 'set-cookie': 'a=b', 'last-modified': 'Mon, 02 Nov 2026 10:00:00 GMT' }));
    assert.equal((await edge.get('/guessed')).headers['x-cache'], 'MISS setCookie');
  });

  test('set_cookie strip: only the client that caused the fetch gets it, clients that wait or share the fetch do not', async (t) => {
    let release = () => {};
    const body = Buffer.alloc(300 * 1024, 'x');
    const { edge, origin } = await start(
      t,
      (request, response) => {
        response.writeHead(200, { ...COOKIE, 'content-length': String(body.length) });
        response.write(body.subarray(0, 1000));
        release = () => void response.end(body.subarray(1000));
        assert.equal(request.method, 'GET');
      },
      { setCookie: 'strip' },
    );
    const all = Array.from({ length: 5 }, () => edge.get('/'));
    await eventually('asked', () => origin.requests.length === 1);
    await edge.get('/', { host: 'unknown.example' });
    release();
    const cookies = (await Promise.all(all)).map(({ headers }) => headers['set-cookie']);
    assert.deepEqual(
      cookies.filter((cookie) => cookie !== undefined),
      ['a=b'],
    );
    assert.equal((await edge.get('/')).headers['set-cookie'], undefined);
    assert.equal(origin.requests.length, 1);
  });
});

test("request_directives: a client's no-cache, max-age=0 and no-store count only if the site says so", async (t) => {
  for (const [requestDirectives, expected] of [
    [false, ['HIT', 'HIT', 'HIT']],
    [true, ['REVALIDATED', 'REVALIDATED', 'BYPASS requestNoStore']],
  ] as const) {
    const script: Answer = (request, response) => {
      if (request.headers['if-none-match'] === undefined) reply('x', { ...FRESH, etag: '"1"' })(request, response);
      else response.writeHead(304, { ...FRESH, etag: '"1"' }).end();
    };
    const { edge } = await start(t, script, { requestDirectives });
    await edge.get('/');
    const marks: (string | undefined)[] = [];
    for (const wish of ['no-cache', 'max-age=0', 'no-store']) {
      marks.push((await edge.get('/', { headers: ['Cache-Control', wish] })).headers['x-cache']);
    }
    assert.deepEqual(marks, expected);
  }
});

test('heuristic_cap is the longest guessed lifetime; 0 turns guessing off, and live and dynamic sites have no guess', async (t) => {
  const old = { 'last-modified': 'Mon, 02 Nov 2020 10:00:00 GMT' };
  const markAfter = async (cache: Partial<CacheSettings>, ms: number, type?: SiteSpec['type']) => {
    const { edge, origin } = await start(t, reply('x', old), cache, type);
    await edge.get('/');
    edge.advance(ms);
    origin.answer(reply('y', FRESH));
    return (await edge.get('/')).headers['x-cache'];
  };
  assert.equal(await markAfter({}, 3_500_000), 'HIT');
  assert.equal(await markAfter({}, 3_700_000), 'MISS');
  assert.equal(await markAfter({ heuristicCapSeconds: 60 }, 50_000), 'HIT');
  assert.equal(await markAfter({ heuristicCapSeconds: 60 }, 70_000), 'MISS');
  assert.equal(await markAfter({ heuristicCapSeconds: 0 }, 0), 'MISS');
  assert.equal(await markAfter({}, 0, 'live'), 'MISS');
  assert.equal(await markAfter({}, 0, 'dynamic'), 'MISS');
});

test('stale_cap is how long stale copies replace an unreachable origin; 0 is not at all', async (t) => {
  for (const [staleCapSeconds, statuses] of [
    [600, [200, 504]],
    [0, [504, 504]],
  ] as const) {
    const { edge, origin } = await start(t, reply('x', FRESH), { staleCapSeconds });
    await edge.get('/');
    edge.advance(60_000 + 500_000);
    await origin.stop();
    const first = await edge.get('/');
    edge.advance(200_000);
    const received = [first.status, (await edge.get('/')).status];
    // What may not be served stale is answered 504. RFC 9111 §5.2.2.2
    assert.deepEqual(received, statuses);
  }
});

test('normalize_vary and match_language decide which languages are one variant', async (t) => {
  const script: Answer = (request, response) => {
    const language = request.headers['accept-language']?.slice(0, 2) ?? '';
    reply(language, { ...FRESH, vary: 'Accept-Language', 'content-language': language })(request, response);
  };
  const markOf = async (cache: Partial<CacheSettings>, first: string, second: string) => {
    const { edge } = await start(t, script, cache);
    await edge.get('/', { headers: ['Accept-Language', first] });
    return (await edge.get('/', { headers: ['Accept-Language', second] })).headers['x-cache'];
  };
  assert.equal(await markOf({}, 'en, de', 'de, en'), 'HIT');
  assert.equal(await markOf({ normalizeVary: false }, 'en, de', 'de, en'), 'MISS');
  assert.equal(await markOf({}, 'en', 'en, de;q=0.5'), 'MISS');
  assert.equal(await markOf({ matchLanguage: true }, 'en', 'en, de;q=0.5'), 'HIT');
});
