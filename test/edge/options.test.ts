/** What a site may choose about caching, as viewers see it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CacheSettings } from '../../src/model/settings.ts';
import type { SiteSpec } from '../../src/sites/spec.ts';
import { FRESH, notModified, reply } from '../support/edge/origin.ts';
import { act, client, gets, hit, miss, origin, pass, scenario } from '../support/edge/scenario.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const COOKIE = { ...FRESH, 'set-cookie': 'a=b' };

describe('set_cookie', () => {
  const unstored = (path: string, answer: ReturnType<typeof reply>) => [
    client(`GET ${path}`),
    origin(`GET ${path}`, answer),
    gets(200, 'MISS setCookie'),
  ];

  test('set_cookie bypass: each client has a cookie of its own', (t) =>
    scenario(t, [...unstored('/', reply('x', COOKIE)), ...unstored('/', reply('x', COOKIE))]));

  test('set_cookie store: the cookie is stored if the lifetime is explicit', (t) => {
    const guessed = { 'set-cookie': 'a=b', 'last-modified': 'Mon, 02 Nov 2026 10:00:00 GMT' };
    const steps = [miss('GET /', reply('x', COOKIE)), hit('GET /', 'x', { 'set-cookie': 'a=b' })];
    return scenario(t, [...steps, ...unstored('/guessed', reply('x', guessed))], {
      site: { cache: { setCookie: 'store' } },
    });
  });

  test('set_cookie strip: only the client that caused the fetch gets it, clients that wait or share the fetch do not', async (t) => {
    let release = () => {};
    const body = Buffer.alloc(300 * 1024, 'x');
    const { edge, origin } = await startSite(
      t,
      (request, response) => {
        response.writeHead(200, { ...COOKIE, 'content-length': String(body.length) });
        response.write(body.subarray(0, 1000));
        release = () => void response.end(body.subarray(1000));
        assert.equal(request.method, 'GET');
      },
      { site: { cache: { setCookie: 'strip' } } },
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

describe('request_directives', () => {
  const wishes = ['no-cache', 'max-age=0', 'no-store'].map((wish) => client('GET /', { 'Cache-Control': wish }));
  const whole = reply('x', { ...FRESH, etag: '"1"' });
  const renew = origin('GET /', notModified({ ...FRESH, etag: '"1"' }), { 'if-none-match': '"1"' });

  test("a client's no-cache, max-age=0 and no-store count if the site says so", (t) => {
    const [noCache, maxAge, noStore] = wishes;
    assert.ok(noCache && maxAge && noStore);
    return scenario(
      t,
      [
        ...[miss('GET /', whole), noCache, renew, gets(200, 'REVALIDATED'), maxAge, renew, gets(200, 'REVALIDATED')],
        ...[noStore, origin('GET /', whole, { 'if-none-match': undefined }), gets(200, 'BYPASS requestNoStore')],
      ],
      { site: { cache: { requestDirectives: true } } },
    );
  });

  test("a client's no-cache, max-age=0 and no-store do not count unless the site says so", (t) =>
    scenario(t, [miss('GET /', whole), ...wishes.flatMap((wish) => [wish, gets(200, 'HIT')])], {
      site: { cache: { requestDirectives: false } },
    }));
});

describe('heuristic_cap is the longest guessed lifetime; 0 turns guessing off, and live and dynamic sites have no guess', () => {
  const old = { 'last-modified': 'Mon, 02 Nov 2020 10:00:00 GMT' };
  const rows: readonly (readonly [cap: number | undefined, ms: number, 'HIT' | 'MISS', type?: SiteSpec['type']])[] = [
    [undefined, 3_500_000, 'HIT'],
    [undefined, 3_700_000, 'MISS'],
    [60, 50_000, 'HIT'],
    [60, 70_000, 'MISS'],
    [0, 0, 'MISS'],
    [undefined, 0, 'MISS', 'live'],
    [undefined, 0, 'MISS', 'dynamic'],
  ];
  for (const [heuristicCapSeconds, ms, mark, type = 'static'] of rows) {
    test(`cap ${heuristicCapSeconds}, ${type}: ${mark} after ${ms} ms`, (t) =>
      scenario(
        t,
        [
          ...[client('GET /'), origin('GET /', reply('x', old)), gets(200, /^MISS/), pass(ms)],
          mark === 'HIT' ? hit('GET /') : miss('GET /', reply('y', FRESH)),
        ],
        { site: { type, cache: heuristicCapSeconds === undefined ? {} : { heuristicCapSeconds } } },
      ));
  }
});

describe('stale_cap is how long stale copies replace an unreachable origin; 0 is not at all', () => {
  for (const [staleCapSeconds, status, xCache] of [
    [600, 200, 'STALE'],
    // What may not be served stale is answered 504. RFC 9111 §5.2.2.2
    [0, 504, 'ERROR originConnect'],
  ] as const) {
    test(`a stale_cap of ${staleCapSeconds} s: ${status} after 500 s, 504 after 700 s`, (t) =>
      scenario(
        t,
        [
          ...[miss('GET /', reply('x', FRESH)), pass(60_000 + 500_000), act(({ origin }) => origin.stop())],
          ...[client('GET /'), gets(status, xCache), pass(200_000), client('GET /'), gets(504, 'ERROR originConnect')],
        ],
        { site: { cache: { staleCapSeconds } } },
      ));
  }
});

describe('normalize_vary and match_language decide which languages are one variant', () => {
  const rows: readonly (readonly [Partial<CacheSettings>, first: string, second: string, mark: 'HIT' | 'MISS'])[] = [
    [{}, 'en, de', 'de, en', 'HIT'],
    [{ normalizeVary: false }, 'en, de', 'de, en', 'MISS'],
    [{}, 'en', 'en, de;q=0.5', 'MISS'],
    [{ matchLanguage: true }, 'en', 'en, de;q=0.5', 'HIT'],
  ];
  for (const [cache, first, second, mark] of rows) {
    const fetched = (language: string) =>
      origin('GET /', reply('x', { ...FRESH, vary: 'Accept-Language', 'content-language': language.slice(0, 2) }));
    test(`${JSON.stringify(cache)}: "${second}" after "${first}" is a ${mark}`, (t) =>
      scenario(
        t,
        [
          ...[client('GET /', { 'Accept-Language': first }), fetched(first), gets(200, 'MISS')],
          ...[client('GET /', { 'Accept-Language': second }), ...(mark === 'HIT' ? [] : [fetched(second)])],
          gets(200, mark),
        ],
        { site: { cache } },
      ));
  }
});
