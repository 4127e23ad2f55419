/** Compression as viewers see it: a real edge between clients that accept this or that, and a scripted origin. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { PurgeScope } from '../../src/sites/purge.ts';
import { type Read, someText, startCodedEdge } from '../support/edge/coded.ts';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { reply } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { needs, obtain } from '../support/runner/needs.ts';

const HTML = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'max-age=60', etag: '"1"' };
const TEXT = someText(30_000);
const CODINGS = ['br', 'zstd', 'gzip'] as const;

/** Asked until a stored form answers. */
async function untilStored(ask: () => Promise<Read>): Promise<Read> {
  return eventually('the coded form is stored', async () => {
    const read = await ask();
    return read.headers['content-length'] !== undefined && read;
  });
}

describe('a page in the coding that the client accepts', () => {
  const rows: readonly (readonly [acceptEncoding: string | undefined, coding: string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, zstd', 'zstd'],
    ['gzip', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['gzip;q=0, br;q=0', undefined],
    ['*;q=0', undefined],
    ['deflate', undefined],
  ];

  test('a compressed page has Vary on a miss, on a hit and by HEAD', async (t) => {
    const { origin, get } = await startCodedEdge(t, reply(TEXT, { ...HTML, 'accept-ranges': 'bytes', digest: 'x' }));
    for (const [index, [acceptEncoding, coding]] of rows.entries()) {
      const path = `/${index}`;
      const miss = await get(path, acceptEncoding);
      const hit = await untilStored(() => get(path, acceptEncoding));
      assert.deepEqual([miss.headers['x-cache'], hit.headers['x-cache']], ['MISS', 'HIT']);
      for (const read of [miss, hit, await get(path, acceptEncoding, { method: 'HEAD' })]) {
        const { headers } = read;
        assert.deepEqual([read.status, read.coding, headers['vary']], [200, coding, 'Accept-Encoding'], path);
        assert.equal(headers['etag'], coding === undefined ? '"1"' : 'W/"1"');
        assert.equal(headers['accept-ranges'], coding === undefined ? 'bytes' : undefined);
        assert.equal(headers['digest'], coding === undefined ? 'x' : undefined);
      }
      assert.deepEqual([miss.text, hit.text], [TEXT, TEXT]);
      const head = await get(path, acceptEncoding, { method: 'HEAD' });
      assert.equal(head.headers['content-length'], hit.headers['content-length']);
    }
    assert.deepEqual(new Set(origin.requests.map(({ headers }) => headers['accept-encoding'])), new Set(['identity']));
    assert.equal(origin.requests.length, rows.length);
  });

  test('express-static-gzip#6, trafficcontrol#4650: both forms have Vary and the right bytes, in any order of requests', async (t) => {
    const { get } = await startCodedEdge(t, reply(TEXT, HTML));
    for (const [first, second] of [
      ['identity', 'gzip'],
      ['gzip', 'identity'],
    ] as const) {
      const path = `/${first}`;
      for (const acceptEncoding of [first, second, first, second]) {
        const read = await get(path, acceptEncoding);
        assert.equal(read.coding, acceptEncoding === 'gzip' ? 'gzip' : undefined);
        assert.deepEqual([read.text, read.headers['vary']], [TEXT, 'Accept-Encoding']);
      }
    }
  });

  test('one fetch serves all codings, even if the origin has Vary: Accept-Encoding', async (t) => {
    const { origin, get } = await startCodedEdge(t, reply(TEXT, { ...HTML, vary: 'accept-encoding, X-Kind' }));
    for (const acceptEncoding of [undefined, 'gzip', 'br', 'zstd', 'identity', 'deflate, gzip;q=0.1']) {
      const read = await get('/', acceptEncoding);
      assert.deepEqual([read.text, read.headers['vary']], [TEXT, 'accept-encoding, X-Kind']);
    }
    assert.equal(origin.requests.length, 1);
    const other = await get('/', 'gzip', { headers: ['X-Kind', 'other'] });
    assert.deepEqual([other.headers['x-cache'], other.coding, origin.requests.length], ['MISS', 'gzip', 2]);
  });

  test('variants by another field have compressed forms of their own', async (t) => {
    const { get } = await startCodedEdge(t, (request, response) => {
      reply(`${request.headers['x-kind']} ${TEXT}`, { ...HTML, vary: 'X-Kind' })(request, response);
    });
    const ask = (kind: string) => () => get('/', 'br', { headers: ['X-Kind', kind] });
    for (const kind of ['a', 'b', 'a', 'b']) assert.equal((await ask(kind)()).text, `${kind} ${TEXT}`);
    for (const kind of ['a', 'b']) assert.equal((await untilStored(ask(kind))).text, `${kind} ${TEXT}`);
  });

  test('an uncompressible page is sent as it arrived', async (t) => {
    const { origin, get } = await startCodedEdge(t, reply(TEXT, HTML), {}, { cacheBytes: 256 * 1024 * 1024 });
    const untouched: readonly (readonly [string, Readonly<Record<string, string>>, status?: number, body?: string])[] =
      [
        ['/small', HTML, 200, TEXT.slice(0, 1023)],
        ['/image', { ...HTML, 'content-type': 'image/png' }],
        ['/untyped', { 'cache-control': 'max-age=60' }],
        ['/fixed', { ...HTML, 'cache-control': 'max-age=60, no-transform' }],
        ['/missing', HTML, 404],
        ['/large', HTML, 200, 'x'.repeat(10 * 1024 * 1024 + 1)],
      ];
    for (const [path, headers, status = 200, body = TEXT] of untouched) {
      origin.answer(reply(body, headers, status));
      for (const cache of ['MISS', 'HIT']) {
        const read = await get(path, 'br, gzip');
        assert.deepEqual(
          [read.status, read.coding, read.headers['vary'], read.headers['x-cache'], read.headers['etag']],
          [status, undefined, undefined, cache, headers['etag']],
          path,
        );
        assert.ok(read.body === body);
      }
    }
    origin.answer(reply(TEXT, HTML));
    const post = await get('/post', 'gzip', { method: 'POST', body: 'x' });
    assert.deepEqual([post.coding, post.headers['vary'], post.headers['etag']], [undefined, undefined, '"1"']);
    const frozen = await get('/page', 'gzip', { headers: ['Cache-Control', 'no-transform'] });
    assert.deepEqual([frozen.coding, frozen.headers['vary'], frozen.text], [undefined, 'Accept-Encoding', TEXT]);
  });

  test('a site without compression is unaffected', async (t) => {
    const { origin, get, made } = await startCodedEdge(t, reply(TEXT, HTML), { pageCompress: false });
    const read = await get('/', 'gzip');
    assert.deepEqual([read.coding, read.headers['vary'], read.headers['etag']], [undefined, undefined, '"1"']);
    assert.equal(origin.requests[0]?.headers['accept-encoding'], 'gzip');
    assert.equal(await made(), 0);
  });

  test('HTTP/1.0 gets the uncompressed page: a body without a length could break off unseen', async (t) => {
    const { edge } = await startCodedEdge(t, reply(TEXT, HTML));
    const client = connectRaw(edge.port, `GET / HTTP/1.0\r\nHost: ${SITE_HOST}\r\nAccept-Encoding: gzip\r\n\r\n`);
    const text = await client.closed;
    assert.ok(text.endsWith(TEXT) && text.includes('\r\nVary: Accept-Encoding\r\n'));
  });

  test('curl decodes each coding', needs('curl'), async (t) => {
    const { edge } = await startCodedEdge(t, reply(TEXT, HTML));
    const run = promisify(execFile);
    for (const _ of ['miss', 'hit', 'stored']) {
      const url = `http://127.0.0.1:${edge.port}/`;
      const { stdout } = await run(obtain('curl'), ['-s', '--compressed', '-H', `Host: ${SITE_HOST}`, url], {
        timeout: 20_000,
      });
      assert.equal(stdout, TEXT);
    }
  });
});

describe('conditions and ranges of a compressed page', () => {
  test('a condition with the tag of either form is answered 304, with Vary and the tag of the form that would be sent', async (t) => {
    const { origin, get } = await startCodedEdge(t, reply(TEXT, HTML));
    for (const path of ['/new', '/stored', '/stored']) {
      for (const tag of ['"1"', 'W/"1"', 'W/"0", W/"1"']) {
        const read = await get(path, 'gzip', { headers: ['If-None-Match', tag] });
        const { headers } = read;
        const shown = [read.status, headers['etag'], headers['vary'], headers['content-encoding'], read.body];
        assert.deepEqual(shown, [304, 'W/"1"', 'Accept-Encoding', undefined, '']);
      }
    }
    const plain = await get('/stored', 'identity', { headers: ['If-None-Match', 'W/"1"'] });
    assert.deepEqual([plain.status, plain.headers['etag'], plain.headers['vary']], [304, '"1"', 'Accept-Encoding']);
    assert.equal((await get('/stored', 'gzip', { headers: ['If-None-Match', '"2"'] })).text, TEXT);
    assert.equal(origin.requests.length, 2);
  });

  test('a range is of the uncompressed page; under a weak tag, which proves nothing, it is the whole', async (t) => {
    const { get } = await startCodedEdge(t, reply(TEXT, HTML));
    await get('/', 'gzip');
    const part = await get('/', 'gzip', { headers: ['Range', 'bytes=0-9'] });
    assert.deepEqual([part.status, part.body, part.coding], [206, TEXT.slice(0, 10), undefined]);
    assert.deepEqual([part.headers['etag'], part.headers['vary']], ['"1"', 'Accept-Encoding']);
    const strong = await get('/', 'gzip', { headers: ['Range', 'bytes=0-9', 'If-Range', '"1"'] });
    assert.deepEqual([strong.status, strong.body], [206, TEXT.slice(0, 10)]);
    const weak = await get('/', 'gzip', { headers: ['Range', 'bytes=0-9', 'If-Range', 'W/"1"'] });
    assert.deepEqual([weak.status, weak.body, weak.coding], [200, TEXT, undefined]);
  });

  test('a 304 of the origin has the weak tag for clients of the compressed page', async (t) => {
    const { get } = await startCodedEdge(t, ({ headers }, response) => {
      const isKnown = headers['if-none-match'] !== undefined;
      response.writeHead(isKnown ? 304 : 200, { etag: '"1"', 'content-type': 'text/html' });
      response.end(isKnown ? undefined : TEXT);
    });
    const dots = '/a/../b'; // past the cache
    const first = await get(dots, 'gzip');
    assert.deepEqual(
      [first.headers['x-cache'], first.coding, first.headers['etag']],
      ['BYPASS dotSegments', 'gzip', 'W/"1"'],
    );
    const weak = await get(dots, 'gzip', { headers: ['If-None-Match', 'W/"1"'] });
    assert.deepEqual([weak.status, weak.headers['etag'], weak.headers['vary']], [304, 'W/"1"', 'Accept-Encoding']);
    const strong = await get(dots, 'gzip', { headers: ['If-None-Match', '"1"'] });
    assert.deepEqual([strong.status, strong.headers['etag'], strong.headers['vary']], [304, '"1"', undefined]);
  });
});

describe('an origin that compresses although it is not asked to', () => {
  const GZIPPED = gzipSync(TEXT);
  const CODED = { ...HTML, 'content-encoding': 'gzip' };

  test('a page that its origin has compressed serves clients that accept the coding; others are fetched separately', async (t) => {
    for (const vary of [{}, { vary: 'Accept-Encoding' }]) {
      const { origin, get } = await startCodedEdge(t, (request, response) => {
        const isPlain = request.headers['accept-encoding'] === 'br';
        reply(isPlain ? TEXT : GZIPPED, { ...(isPlain ? HTML : CODED), ...vary })(request, response);
      });
      const other = await get('/', 'br');
      assert.deepEqual([other.headers['x-cache'], other.coding, other.text], ['BYPASS contentCoding', 'br', TEXT]);
      assert.deepEqual(
        origin.requests.map(({ headers }) => headers['accept-encoding']),
        ['identity', 'br'],
      );
      // What the origin sent for all is stored meanwhile.
      const hit = await eventually('stored', async () => {
        const read = await get('/', 'gzip');
        return read.headers['x-cache'] === 'HIT' && read;
      });
      assert.deepEqual([hit.coding, hit.text, hit.headers['etag']], ['gzip', TEXT, '"1"']);
      assert.equal((await get('/')).coding, 'gzip'); // without the field anything is accepted
      for (const acceptEncoding of ['br', 'br;q=1, gzip;q=0']) {
        const read = await get('/', acceptEncoding);
        assert.equal(read.headers['x-cache'], 'BYPASS contentCoding');
        if (acceptEncoding === 'br') assert.deepEqual([read.coding, read.text], ['br', TEXT]);
      }
      assert.equal(
        (await get('/', 'gzip', { headers: ['Range', 'bytes=0-9'] })).body,
        GZIPPED.toString('latin1', 0, 10),
      );
      assert.equal(
        (await get('/', 'br', { headers: ['Range', 'bytes=0-9'] })).headers['x-cache'],
        'BYPASS contentCoding',
      );
    }
  });
});

describe('the coded form', () => {
  test('the coded form is made once per coding, for concurrent requests too', async (t) => {
    const { get, made, origin } = await startCodedEdge(t, reply(TEXT, HTML));
    await get('/');
    for (const coding of CODINGS) {
      const all = await Promise.all(Array.from({ length: 20 }, () => get('/', coding)));
      for (const read of all) assert.deepEqual([read.text, read.coding], [TEXT, coding]);
      await untilStored(() => get('/', coding));
    }
    assert.deepEqual([await made(), origin.requests.length], [3, 1]);
  });

  test('cache-handler#26, souin#456: the coded form goes with any purge, fresh or stale, in every coding and by HEAD', async (t) => {
    let text = TEXT;
    const { edge, get, origin } = await startCodedEdge(t, (request, response) => reply(text, HTML)(request, response));
    const purges: readonly PurgeScope[] = [
      { kind: 'url', target: `${SITE_HOST}/a/b` },
      { kind: 'directory', target: `${SITE_HOST}/a/` },
      { kind: 'site', target: '' },
    ];
    for (const [index, scope] of purges.entries()) {
      for (const coding of CODINGS) await untilStored(() => get('/a/b', coding));
      text = someText(20_000 + index);
      edge.advance(index === 2 ? 61_000 : 10); // stale at last
      edge.purge(scope);
      edge.advance(10);
      const head = await get('/a/b', 'br', { method: 'HEAD' });
      assert.deepEqual([head.headers['x-cache'], head.headers['content-length']], ['MISS method', undefined]);
      for (const coding of CODINGS) assert.equal((await get('/a/b', coding)).text, text);
    }
    assert.ok(origin.requests.length >= 7);
  });

  test('the coded form goes with an invalidation by an unsafe method', async (t) => {
    let text = TEXT;
    const { edge, get } = await startCodedEdge(t, (request, response) => reply(text, HTML)(request, response));
    for (const coding of CODINGS) await untilStored(() => get('/', coding));
    text = someText(20_000);
    edge.advance(10);
    await get('/', undefined, { method: 'POST', body: 'x' });
    edge.advance(10);
    for (const coding of CODINGS) assert.equal((await get('/', coding)).text, text);
  });

  test('the coded form stays if the origin confirms the page, and goes if the page has changed', async (t) => {
    let tag = '"1"';
    let text = TEXT;
    const { edge, get, made } = await startCodedEdge(t, ({ headers }, response) => {
      const isSame = headers['if-none-match'] === tag;
      response.writeHead(isSame ? 304 : 200, { ...HTML, etag: tag });
      response.end(isSame ? undefined : text);
    });
    await untilStored(() => get('/', 'br'));
    edge.advance(61_000);
    const confirmed = await get('/', 'br');
    assert.equal(confirmed.headers['x-cache'], 'REVALIDATED');
    assert.deepEqual([confirmed.text, await made()], [TEXT, 1]);
    assert.notEqual(confirmed.headers['content-length'], undefined);
    [tag, text] = ['"2"', someText(20_000)];
    edge.advance(61_000);
    const changed = await get('/', 'br');
    assert.deepEqual([changed.headers['x-cache'], changed.text, changed.headers['etag']], ['MISS', text, 'W/"2"']);
    assert.equal((await untilStored(() => get('/', 'br'))).text, text);
  });

  test('the coded form serves while the page is stale and the origin away', async (t) => {
    const { edge, get, origin } = await startCodedEdge(t, reply(TEXT, HTML));
    await untilStored(() => get('/', 'gzip'));
    await origin.stop();
    edge.advance(61_000);
    const stale = await get('/', 'gzip');
    assert.deepEqual([stale.headers['x-cache'], stale.coding, stale.text], ['STALE', 'gzip', TEXT]);
    const plain = await get('/');
    assert.deepEqual([plain.headers['x-cache'], plain.coding, plain.text], ['STALE', undefined, TEXT]);
  });
});
