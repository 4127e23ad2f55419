/** Conditions, ranges, validation and invalidation as viewers see them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SITE_HOST } from '../support/edge/edge.ts';
import { FRESH, hold, notModified, reply } from '../support/edge/origin.ts';
import { act, client, gets, hit, miss, origin, pass, scenario } from '../support/edge/scenario.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const LAST_MODIFIED = 'Mon, 02 Nov 2026 10:00:00 GMT';

describe("the client's own conditions", () => {
  const stored = { ...FRESH, etag: '"1"', 'last-modified': LAST_MODIFIED };
  const rows: readonly (readonly [what: string, fields: Readonly<Record<string, string>>, status: number])[] = [
    ['a matching tag', { 'If-None-Match': '"1"' }, 304],
    ['a weak form of it in a list', { 'If-None-Match': '"0", W/"1"' }, 304],
    ['another tag', { 'If-None-Match': '"2"' }, 200],
    ['a tag rules over a date', { 'If-None-Match': '"2"', 'If-Modified-Since': LAST_MODIFIED }, 200],
    ['the same date', { 'If-Modified-Since': LAST_MODIFIED }, 304],
    ['an earlier date', { 'If-Modified-Since': 'Sun, 01 Nov 2026 10:00:00 GMT' }, 200],
  ];
  for (const [what, fields, status] of rows) {
    const body = status === 304 ? '' : 'hello';
    test(`the client's condition, ${what}: ${status}, on a cold cache and on a hit`, (t) =>
      scenario(t, [
        client('GET /', fields),
        origin('GET /', reply('hello', stored), { 'if-none-match': undefined }), // filled without conditions, and whole
        gets(status, 'MISS', body, { etag: '"1"' }),
        client('GET /', fields),
        gets(status, 'HIT', body, { etag: '"1"' }),
        hit('GET /', 'hello'),
      ]));
  }

  test('If-Match goes to the origin, and its 412 comes back', (t) =>
    scenario(t, [
      client('GET /', { 'If-Match': '"x"' }),
      origin('GET /', reply('no', {}, 412), { 'if-match': '"x"' }),
      gets(412, 'BYPASS precondition'),
    ]));
});

describe('ranges of stored objects', () => {
  const body = 'abcdefghijklmnopqrstuvwxyz';
  const rows: readonly (readonly [
    range: string,
    extra: Readonly<Record<string, string>>,
    status: number,
    expected: string,
    contentRange: string | undefined,
  ])[] = [
    ['bytes=0-4', {}, 206, 'abcde', 'bytes 0-4/26'],
    ['bytes=20-', {}, 206, 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=-3', {}, 206, 'xyz', 'bytes 23-25/26'],
    ['bytes=24-99', {}, 206, 'yz', 'bytes 24-25/26'],
    ['bytes=26-', {}, 416, '', 'bytes */26'],
    ['lines=1-2', {}, 200, body, undefined],
    ['bytes=5-1', {}, 200, body, undefined],
    ['bytes=0-1', { 'If-Range': '"1"' }, 206, 'ab', 'bytes 0-1/26'],
    ['bytes=0-1', { 'If-Range': '"2"' }, 200, body, undefined],
    ['bytes=0-1', { 'If-None-Match': '"1"' }, 304, '', undefined],
  ];
  for (const [range, extra, status, expected, contentRange] of rows) {
    test(`the range ${range} ${Object.entries(extra).flat().join(' ')}: ${status} from the store`, (t) =>
      scenario(t, [
        miss('GET /', reply(body, { ...FRESH, etag: '"1"' })),
        client('GET /', { Range: range, ...extra }),
        gets(status, 'HIT', expected, { 'content-range': contentRange }),
      ]));
  }

  test('several ranges arrive in parts', async (t) => {
    const { edge } = await startSite(t, reply(body, { ...FRESH, 'content-type': 'text/plain' }));
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

  test('a range miss is passed on unchanged; its part serves ranges inside it, and never as the whole', (t) =>
    scenario(t, [
      client('GET /', { Range: 'bytes=2-4', 'If-Range': '"1"' }),
      origin('GET /', reply('cde', { ...FRESH, 'content-range': 'bytes 2-4/26', etag: '"1"' }, 206), {
        range: 'bytes=2-4',
        'if-range': '"1"',
      }),
      gets(206, 'MISS', 'cde'),
      client('GET /', { Range: 'bytes=3-4' }),
      gets(206, 'HIT', 'de', { 'content-range': 'bytes 3-4/26' }),
      miss('GET /', reply(body, FRESH), body, { range: undefined }),
      client('GET /', { Range: 'bytes=2-4' }),
      gets(206, 'HIT', 'cde'),
    ]));
});

describe('validation', () => {
  const short = { 'cache-control': 'max-age=10', etag: '"1"', 'last-modified': LAST_MODIFIED };
  const stale = (headers: Readonly<Record<string, string>> = short) => [
    miss('GET /', reply('hello', headers)),
    pass(20_000),
  ];

  test('a stale response is validated with its own validators; a 304 renews it and the client gets the body', (t) =>
    scenario(t, [
      ...stale(),
      client('GET /'),
      origin('GET /', notModified({ ...short, ...FRESH, 'x-new': '1', 'content-length': '0' }), {
        'if-none-match': '"1"',
        'if-modified-since': LAST_MODIFIED,
      }),
      gets(200, 'REVALIDATED', 'hello', { 'x-new': '1', 'content-length': '5' }),
      hit('GET /', 'hello', { 'x-new': '1' }),
    ]));

  test('a client with a current copy gets 304 after the validation', (t) =>
    scenario(t, [
      ...stale(),
      client('GET /', { 'If-None-Match': '"1"' }),
      origin('GET /', notModified(short)),
      gets(304, 'REVALIDATED'),
    ]));

  test('a 304 that forbids storing is used once, and the stored response is dropped', (t) =>
    scenario(t, [
      ...stale(),
      client('GET /'),
      origin('GET /', notModified({ 'cache-control': 'no-store', etag: '"1"' }), { 'if-none-match': '"1"' }),
      gets(200, 'REVALIDATED', 'hello'),
      miss('GET /', reply('anew', FRESH), 'anew', { 'if-none-match': undefined }),
    ]));

  test('a HEAD that names the same object renews it, one that names another triggers a validation', (t) =>
    scenario(t, [
      ...stale(),
      client('HEAD /'),
      origin('HEAD /', reply('hello', { ...short, ...FRESH })),
      gets(200, 'MISS method'),
      hit('GET /', 'hello'),
      pass(100_000),
      client('HEAD /'),
      origin('HEAD /', reply('longer', { ...FRESH, etag: '"2"' })),
      gets(200, 'MISS method'),
      miss('GET /', reply('longer', { ...FRESH, etag: '"2"' }), 'longer'),
    ]));

  test('a 200 to a validation replaces the stored response', (t) =>
    scenario(t, [...stale(), miss('GET /', reply('next', { ...FRESH, etag: '"2"' }), 'next'), hit('GET /', 'next')]));

  test('a 304 that names another object is not believed: the whole is fetched', (t) =>
    scenario(t, [
      ...stale(),
      client('GET /'),
      origin('GET /', notModified({ etag: '"other"' }), { 'if-none-match': '"1"' }),
      origin('GET /', reply('whole', { ...FRESH, etag: '"other"' }), { 'if-none-match': undefined }),
      gets(200, 'MISS', 'whole'),
    ]));

  test('an unexpected 304 is an error of the origin', (t) =>
    scenario(t, [client('GET /'), origin('GET /', notModified()), gets(502, 'ERROR originMalformed')]));

  test('a stored response replaces an unreachable origin for a day after its lifetime, not longer', (t) =>
    scenario(t, [
      ...stale(),
      act(({ origin }) => origin.stop()),
      client('GET /'),
      gets(200, 'STALE', 'hello'),
      pass(24 * 3600 * 1000),
      client('GET /'),
      gets(504, 'ERROR originConnect'),
    ]));

  test('must-revalidate forbids to replace an unreachable origin', (t) =>
    scenario(t, [
      ...stale({ ...short, 'cache-control': 'max-age=10, must-revalidate' }),
      act(({ origin }) => origin.stop()),
      client('GET /'),
      gets(504, 'ERROR originConnect'),
    ]));

  test('a 503 passes through', (t) =>
    scenario(t, [...stale(), client('GET /'), origin('GET /', reply('down', {}, 503)), gets(503, /^MISS/, 'down')]));

  test('the stored response is served within stale-if-error instead of a 503, its bytes once', (t) =>
    scenario(t, [
      ...stale({ ...short, 'cache-control': 'max-age=10, stale-if-error=60' }),
      client('GET /'),
      origin('GET /', reply('down', {}, 503)),
      gets(200, 'STALE', 'hello'),
    ]));

  test('stale-while-revalidate serves at once and renews in the background, once', (t) => {
    const renewal = hold(reply('next', FRESH));
    const served = [client('GET /'), gets(200, 'STALE', 'hello')];
    return scenario(t, [
      ...stale({ ...short, 'cache-control': 'max-age=10, stale-while-revalidate=60' }),
      ...served,
      origin('GET /', renewal.answer),
      ...served,
      ...served,
      act(renewal.release),
      act(({ edge }) => eventually('renewed', async () => (await edge.get('/')).body === 'next')),
    ]);
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
    test(`${method} answered ${status} ${drops ? 'drops' : 'keeps'} the stored object`, (t) =>
      scenario(t, [
        miss('GET /', reply('x', FRESH)),
        client(`${method} /`, {}, method === 'OPTIONS' ? {} : { body: 'data' }),
        origin(`${method} /`, reply(status === 204 ? '' : 'x', FRESH, status)),
        gets(status, 'BYPASS method'),
        pass(1),
        drops ? miss('GET /', reply('x', FRESH)) : hit('GET /'),
      ]));
  }

  test('Location and Content-Location of the same site are invalidated too, others are not', (t) =>
    scenario(t, [
      ...['/a', '/b', '/c'].map((path) => miss(`GET ${path}`, reply('x', FRESH))),
      client('POST /new', {}, { body: 'x' }),
      origin('POST /new', reply('', { location: '/a', 'content-location': `http://${SITE_HOST}/b` }, 201)),
      gets(201, 'BYPASS method'),
      pass(1),
      miss('GET /a', reply('x', FRESH)),
      miss('GET /b', reply('x', FRESH)),
      hit('GET /c'),
    ]));
});
