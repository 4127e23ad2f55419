/** Parts of objects: stored, served, joined and completed; and a POST's answer that serves later GETs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, reply } from '../support/edge/origin.ts';
import {
  act,
  breaksOff,
  client,
  gets,
  hit,
  miss,
  origin,
  pass,
  type Step,
  scenario,
} from '../support/edge/scenario.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const BODY = 'abcdefghijklmnopqrstuvwxyz';
const FRESH = { 'cache-control': 'max-age=60', 'content-type': 'text/plain' };
const TAGGED = { ...FRESH, etag: '"1"' };

/** The client asks for positions of the object, `0-4`. */
const ask = (span: string, fields: Readonly<Record<string, string>> = {}) =>
  client('GET /', { Range: `bytes=${span}`, ...fields });

/** The answer of the origin with these positions of the body. */
function part(first: number, last: number, headers: Readonly<Record<string, string>> = TAGGED) {
  return reply(BODY.slice(first, last + 1), { ...headers, 'content-range': `bytes ${first}-${last}/26` }, 206);
}

/** A client asks for these positions, which no part holds, and has them from the origin. */
function missPart(first: number, last: number): readonly Step[] {
  const span = `${first}-${last}`;
  const fields = { 'content-range': `bytes ${span}/26` };
  const answered = origin('GET /', part(first, last), { range: `bytes=${span}` });
  return [ask(span), answered, gets(206, 'MISS', BODY.slice(first, last + 1), fields)];
}

/** Joining is done behind the answer. */
const isHit = (what: string, ...headers: readonly string[]) =>
  act(({ edge }) => eventually(what, async () => (await edge.get('/', { headers })).headers['x-cache'] === 'HIT'));

describe('parts', () => {
  test('touching parts become one, parts with a gap do not, and all parts become the whole', (t) =>
    scenario(t, [
      missPart(0, 4),
      missPart(5, 9),
      isHit('joined', 'Range', 'bytes=3-7'),
      ask('2-8'),
      gets(206, 'HIT', 'cdefghi', { 'content-range': 'bytes 2-8/26' }),
      missPart(10, 25),
      isHit('whole'),
      hit('GET /', BODY, { 'content-range': undefined }),
    ]));

  test('a part that covers the object is the whole', (t) =>
    scenario(t, [
      ask('0-'),
      origin('GET /', part(0, 25, FRESH)),
      gets(206, 'MISS', BODY, { 'content-range': 'bytes 0-25/26' }),
      hit('GET /', BODY, { 'content-range': undefined, 'content-length': '26' }),
      ask('-1'),
      gets(206, 'HIT', 'z'),
    ]));

  test('a stored beginning is completed by fetching only the rest, on condition that the object is the same', (t) =>
    scenario(t, [
      missPart(0, 9),
      client('GET /'),
      origin('GET /', part(10, 25), { range: 'bytes=10-', 'if-range': '"1"' }),
      gets(200, 'MISS', BODY, { 'content-length': '26', 'content-range': undefined }),
      hit('GET /', BODY),
    ]));

  test('a stored beginning of a changed object is replaced by the whole', (t) =>
    scenario(t, [
      missPart(0, 9),
      miss('GET /', reply(BODY.toUpperCase(), { ...FRESH, etag: '"2"' }), BODY.toUpperCase(), { range: 'bytes=10-' }),
      ask('0-3'),
      gets(206, 'HIT', 'ABCD'),
    ]));

  const others: readonly (readonly [what: string, headers: Readonly<Record<string, string>>, contentRange: string])[] =
    [
      ['no tag', {}, 'bytes 10-25/26'],
      ['another tag', { etag: '"2"' }, 'bytes 10-25/26'],
      ['a weak tag', { etag: 'W/"1"' }, 'bytes 10-25/26'],
      ['another length', { etag: '"1"' }, 'bytes 10-25/27'],
      ['not all of the rest', { etag: '"1"' }, 'bytes 10-20/26'],
      ['positions from elsewhere', { etag: '"1"' }, 'bytes 12-25/26'],
    ];
  for (const [what, headers, contentRange] of others) {
    test(`a rest with ${what} cannot be proven to belong to the beginning: all is fetched anew`, (t) => {
      const [, first = 0, last = 0] = /(\d+)-(\d+)/.exec(contentRange) ?? [];
      const rest = BODY.slice(Number(first), Number(last) + 1).toUpperCase();
      return scenario(t, [
        missPart(0, 9),
        client('GET /'),
        origin('GET /', reply(rest, { ...FRESH, ...headers, 'content-range': contentRange }, 206), {
          range: 'bytes=10-',
        }),
        origin('GET /', reply(BODY, FRESH), { range: undefined }),
        gets(200, 'MISS', BODY),
      ]);
    });
  }

  test('a rest that breaks off cuts the client, and the beginning stays stored', (t) =>
    scenario(t, [
      missPart(0, 9),
      client('GET /'),
      origin('GET /', (_request, response) => {
        response.writeHead(206, { ...TAGGED, 'content-length': '16', 'content-range': 'bytes 10-25/26' });
        response.write('klm', () => response.destroy());
      }),
      breaksOff(200, 'MISS'),
      client('GET /'),
      origin('GET /', part(10, 25), { range: 'bytes=10-' }),
      gets(200, 'MISS', BODY),
    ]));

  test('a part whose body is shorter than it says is not stored', (t) => {
    const short: Answer = (_request, response) =>
      void response.writeHead(206, { ...TAGGED, 'content-range': 'bytes 0-9/26' }).end('abc');
    const cut = [ask('0-9'), origin('GET /', short), gets(206, /^MISS/, 'abc')];
    return scenario(t, [cut, cut]);
  });

  test('several parts in one answer pass through and are not stored', (t) => {
    const headers = { ...FRESH, 'content-type': 'multipart/byteranges; boundary=x', 'content-range': 'bytes 0-4/26' };
    return scenario(t, [ask('0-1,3-4'), origin('GET /', reply('--x--', headers, 206)), gets(206, 'MISS contentRange')]);
  });

  test('a stored part answers If-Range, HEAD and ranges outside it as it must', (t) =>
    scenario(t, [
      missPart(0, 9),
      ask('0-1', { 'If-Range': '"1"' }),
      gets(206, 'HIT', 'ab'),
      ask('99-'),
      gets(416, 'HIT', '', { 'content-range': 'bytes */26' }),
      client('HEAD /'),
      origin('HEAD /', reply(BODY, TAGGED)),
      gets(200, 'MISS method', '', { 'content-length': '26' }),
      ask('0-1', { 'If-Range': '"0"' }),
      origin('GET /', reply(BODY, TAGGED), { range: 'bytes=0-1', 'if-range': '"0"' }),
      gets(200, 'MISS', BODY),
    ]));

  test('a stale part is validated, and answers with its bytes', (t) =>
    scenario(t, [
      missPart(0, 9),
      pass(61_000),
      ask('1-2'),
      // Its Date is by the real clock, from which the edge's has been moved.
      origin('GET /', reply('', { 'cache-control': 'max-age=600', etag: '"1"' }, 304)),
      gets(206, 'REVALIDATED', 'bc'),
      ask('1-2'),
      gets(206, 'HIT', 'bc'),
    ]));
});

test('more than eight ranges are ignored', (t) =>
  scenario(t, [
    miss('GET /', reply(BODY, FRESH)),
    ask('0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14'),
    gets(206, 'HIT', undefined, { 'content-type': /^multipart/ }),
    ask('0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16'),
    gets(200, 'HIT', BODY),
  ]));

describe("a POST's answer that is its own address's representation", () => {
  const own = { ...FRESH, 'content-location': '/thing' };
  const post = (path: string, answer: ReturnType<typeof reply>, status = 200, body?: string) => [
    client(`POST ${path}`, {}, { body: 'x' }),
    origin(`POST ${path}`, answer),
    gets(status, /^BYPASS/, body),
  ];

  test("a POST's answer that represents its own address serves later GETs", (t) =>
    scenario(t, [
      miss('GET /thing', reply('old', FRESH)),
      client('POST /thing', {}, { body: 'x' }),
      origin('POST /thing', reply('new', own)),
      gets(200, 'BYPASS method', 'new'),
      hit('GET /thing', 'new'),
    ]));

  const rows: readonly (readonly [what: string, headers: Record<string, string>, path?: string, status?: number])[] = [
    ['no Content-Location', FRESH],
    ['another Content-Location', { ...FRESH, 'content-location': '/other' }],
    ['no explicit lifetime', { 'content-location': '/thing', 'last-modified': 'Mon, 02 Nov 2026 10:00:00 GMT' }],
    ['a status that is no success', own, '/thing', 303],
    ['a path with dot segments', own, '/x/../thing'],
  ];
  for (const [what, headers, path = '/thing', status = 200] of rows) {
    test(`a POST's answer with ${what} invalidates the object and is not stored`, (t) =>
      scenario(t, [
        miss('GET /thing', reply('old', FRESH)),
        post(path, reply('posted', headers, status), status),
        client('GET /thing'),
        origin('GET /thing', reply('fetched', FRESH)),
        gets(200, /^MISS/, 'fetched'),
      ]));
  }

  test('a GET in flight during a POST does not replace its answer', async (t) => {
    let late: (() => void) | undefined;
    const { edge, origin } = await startSite(t, (request, response) => {
      if (request.method === 'POST') return reply('new', own)(request, response);
      late = () => reply('old', FRESH)(request, response);
    });
    const slow = edge.get('/thing');
    await eventually('at the origin', () => late !== undefined);
    edge.advance(10);
    await edge.get('/thing', { method: 'POST', body: 'x' });
    late?.();
    assert.equal((await slow).body, 'old');
    assert.deepEqual([(await edge.get('/thing')).body, origin.requests.length], ['new', 2]);
  });
});
