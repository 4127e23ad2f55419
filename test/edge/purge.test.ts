/** Purges as an edge applies them, and prefetches: real sockets, the site's purges as the feed would bring them. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { PurgeScope } from '../../src/sites/purge.ts';
import { connectRaw, loopback, NO_ORIGINS, SITE_HOST } from '../support/edge/edge.ts';
import { FRESH, hold, notModified, reply } from '../support/edge/origin.ts';
import { act, client, gets, hit, miss, origin, pass, scenario } from '../support/edge/scenario.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const TAGGED = { ...FRESH, etag: '"1"' };
const url = (target: string): PurgeScope => ({ kind: 'url', target: SITE_HOST + target });

describe('a purge', () => {
  const purge = (scope: PurgeScope) => [pass(10), act(({ edge }) => edge.purge(scope)), pass(10)].flat();
  const all = ['/', '/a', '/a/', '/a/b', '/a/b?x=1', '/ab'];
  const rows: readonly (readonly [what: string, scope: PurgeScope, gone: readonly string[]])[] = [
    ['of an address', url('/a/b?x=1'), ['/a/b?x=1']],
    ['of an address without its query', url('/a/b'), ['/a/b']],
    ['of a directory', { kind: 'directory', target: `${SITE_HOST}/a/` }, ['/a/', '/a/b', '/a/b?x=1']],
    ['of the site', { kind: 'site', target: '' }, all],
  ];
  for (const [what, scope, gone] of rows) {
    test(`a purge of ${what} covers what it names and nothing else`, (t) =>
      scenario(t, [
        ...all.map((path) => miss(`GET ${path}`, reply('x', TAGGED))),
        purge(scope),
        ...all.map((path) => (gone.includes(path) ? miss(`GET ${path}`, reply('x', TAGGED)) : hit(`GET ${path}`))),
        ...all.map((path) => hit(`GET ${path}`)),
      ]));
  }

  test('a purge covers every variant, HEAD and ranges included, and the next request has no conditions', (t) => {
    const get = (coding: string, version: number) => {
      const fields = { ...TAGGED, vary: 'Accept-Encoding', ...(coding === 'gzip' && { 'content-encoding': 'gzip' }) };
      const text = `version ${version}`;
      return [
        client('GET /', coding === '' ? {} : { 'Accept-Encoding': coding }),
        origin('GET /', reply(coding === 'gzip' ? gzipSync(text) : text, fields)),
        gets(200, 'MISS'),
      ];
    };
    const plain = reply('version 2', { ...TAGGED, vary: 'Accept-Encoding' });
    return scenario(t, [
      ...['', 'gzip', 'br'].map((coding) => get(coding, 1)),
      purge(url('/')),
      client('HEAD /'),
      origin('HEAD /', plain),
      gets(200, 'MISS method'),
      client('GET /', { Range: 'bytes=0-3' }),
      origin('GET /', plain, { 'if-none-match': undefined }), // it knows no ranges, so its answer is the whole
      gets(200, 'MISS'),
      hit('GET /', 'version 2'),
      ...['gzip', 'br'].map((coding) => get(coding, 2)), // these may offer the tag of what has come since
    ]);
  });

  const windows = 'max-age=10, stale-while-revalidate=600, stale-if-error=600';
  for (const caching of ['max-age=10', windows]) {
    test(`a purge covers a stale copy of ${caching}: neither a dead origin nor a stale window brings it back`, (t) =>
      scenario(t, [
        miss('GET /', reply('old', { 'cache-control': caching })),
        pass(20_000),
        purge(url('/')),
        act(({ origin }) => origin.stop()),
        client('GET /'),
        gets(502, 'ERROR originConnect'),
      ]));
  }

  test('a purge keeps out responses that were being fetched, even if their body arrives later', (t) => {
    const body = hold((_request, response) => response.end('body'));
    return scenario(t, [
      client('GET /'),
      origin('GET /', (request, response) => {
        response.writeHead(200, { ...TAGGED, 'content-length': '8' });
        response.write('old ');
        body.answer(request, response);
      }),
      purge(url('/')),
      act(body.release),
      gets(200, 'MISS invalidated', 'old body'),
      miss('GET /', reply('new', TAGGED), 'new'),
    ]);
  });

  test('a purge is not undone by a 304 to a validation in flight', (t) => {
    const confirmation = hold(notModified(TAGGED));
    return scenario(t, [
      miss('GET /', reply('old', { 'cache-control': 'max-age=10', etag: '"1"' })),
      pass(20_000),
      client('GET /'),
      origin('GET /', confirmation.answer, { 'if-none-match': '"1"' }),
      purge(url('/')),
      act(confirmation.release),
      origin('GET /', reply('new', TAGGED), { 'if-none-match': undefined }),
      gets(200, 'MISS', 'new'),
      hit('GET /', 'new'),
    ]);
  });

  test('a purge compares with the request that fetched the bytes, not with the 304 that renewed them', (t) =>
    scenario(t, [
      miss('GET /', reply('old', { 'cache-control': 'max-age=10', etag: '"1"' })),
      pass(20_000),
      client('GET /'),
      origin('GET /', notModified(TAGGED)),
      gets(200, 'REVALIDATED', 'old'),
      // A purge that another process stamped before the 304 and that is heard of only now.
      pass(-5_000),
      act(({ edge }) => edge.purge(url('/'))),
      pass(5_000),
      miss('GET /', reply('new', TAGGED), 'new'),
    ]));

  test('a purge ends a hit-for-miss mark', async (t) => {
    const { edge, origin } = await startSite(t, reply('private', { 'cache-control': 'private' }));
    await edge.get('/');
    edge.advance(10);
    edge.purge(url('/'));
    edge.advance(10);
    const held: (() => void)[] = [];
    origin.answer((request, response) => void held.push(() => reply('shared', TAGGED)(request, response)));
    const all = Promise.all(Array.from({ length: 5 }, () => edge.get('/')));
    await eventually('led', () => held.length === 1);
    held[0]?.();
    assert.deepEqual(new Set((await all).map(({ body }) => body)), new Set(['shared']));
    assert.equal(origin.requests.length, 2);
  });
});

test('an object older than 30 days is absent, even if it claims to be fresh or was renewed since', (t) => {
  const long = reply('x', { 'cache-control': 'max-age=31536000', etag: '"1"' });
  return scenario(t, [
    miss('GET /', long),
    pass(29.9 * 24 * 3600_000),
    hit('GET /'),
    pass(0.2 * 24 * 3600_000),
    miss('GET /', long, 'x', { 'if-none-match': undefined }),
  ]);
});

describe('a prefetch', () => {
  const asked = { host: SITE_HOST, target: '/a?b=1', scheme: 'http' } as const;

  test('a prefetch stores the object, and says so; a second one finds it', async (t) => {
    const { edge, origin } = await startSite(t, reply('hello', TAGGED));
    assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'stored' });
    assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'stored' });
    const hit = await edge.get('/a?b=1');
    assert.deepEqual([hit.body, hit.headers['x-cache'], origin.requests.length], ['hello', 'HIT', 1]);
  });

  test('a prefetch validates a stale object', async (t) => {
    const { edge, origin } = await startSite(t, reply('hello', { ...TAGGED, 'cache-control': 'max-age=10' }));
    await edge.get('/a?b=1');
    edge.advance(20_000);
    origin.answer((_request, response) => response.writeHead(304, TAGGED).end());
    assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'stored' });
    assert.equal((await edge.get('/a?b=1')).headers['x-cache'], 'HIT');
  });

  test('a prefetch of a large object is done when the object is stored', async (t) => {
    const body = Buffer.alloc(3_000_000, 'x');
    const { edge } = await startSite(t, reply(body, TAGGED));
    assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'stored' });
    assert.equal((await edge.get('/a?b=1')).headers['x-cache'], 'HIT');
  });

  const failures: readonly (readonly [reason: string, headers: Record<string, string>, status?: number])[] = [
    ['noStore', { 'cache-control': 'no-store' }],
    ['setCookie', { ...TAGGED, 'set-cookie': 'a=b' }],
    ['noReuse', {}],
    ['errorStatus', TAGGED, 404],
    ['errorStatus', {}, 503],
  ];
  for (const [reason, headers, status = 200] of failures) {
    test(`a prefetch says why it stored nothing: ${reason} (${status})`, async (t) => {
      const { edge } = await startSite(t, reply('x', headers, status));
      for (let i = 0; i < 2; i++) {
        assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'failed', reason });
      }
    });
  }

  test('a prefetch says that no origin answers, a body breaks off, the host is unknown or closed, or the target is invalid', async (t) => {
    const { edge, origin } = await startSite(t, (_request, response) => {
      response.writeHead(200, { ...TAGGED, 'content-length': '10' });
      response.write('abc', () => response.destroy());
    });
    const reasonOf = async (change: Partial<typeof asked> | { target: string } | { host: string }) => {
      const outcome = await edge.edge.prefetch({ ...asked, ...change });
      return outcome.kind === 'failed' ? outcome.reason : outcome.kind;
    };
    assert.equal(await reasonOf({}), 'incomplete');
    assert.equal(await reasonOf({ host: 'other.example.com' }), 'unknownHost');
    assert.equal(await reasonOf({ target: '/a/../b' }), 'dotSegments');
    assert.equal(await reasonOf({ target: '/%zz' }), 'target');
    await origin.stop();
    assert.equal(await reasonOf({}), 'originConnect');
    edge.put({ name: SITE_HOST, state: 'closed', origins: { ...NO_ORIGINS, primary: loopback([origin.port]) } });
    assert.equal(await reasonOf({}), 'closed');
  });

  test('a prefetch of an object that a client is fetching waits for that, and keeps the fetch alive if the client leaves', async (t) => {
    let response: ServerResponse | undefined;
    const body = Buffer.alloc(20_000_000, 'x');
    const { edge, origin } = await startSite(
      t,
      (_request, answer) => {
        answer.writeHead(200, { ...TAGGED, 'content-length': String(body.length) });
        answer.write(body.subarray(0, 1000));
        response = answer;
      },
      { cacheBytes: 256 * 2 ** 20 },
    );
    const client = connectRaw(edge.port, `GET /a?b=1 HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    await eventually('begun', () => client.text().endsWith('xxx'));
    const outcome = edge.edge.prefetch(asked);
    await edge.get('/', { host: 'unknown.example' });
    client.socket.destroy();
    await client.closed;
    await edge.get('/', { host: 'unknown.example' });
    response?.end(body.subarray(1000));
    assert.deepEqual(await outcome, { kind: 'stored' });
    assert.equal(origin.requests.length, 1);
  });

  test('many prefetches wait for their turn, and a viewer shares the fetch', async (t) => {
    const held: (() => void)[] = [];
    const { edge, origin } = await startSite(t, (request, response) => {
      held.push(() => reply('x', TAGGED)(request, response));
    });
    const all = Array.from({ length: 20 }, (_, i) => edge.edge.prefetch({ ...asked, target: `/${i}` }));
    await eventually('the first ones', () => held.length === 16);
    const viewer = edge.get('/0');
    let isDone = false;
    void Promise.all(all).then(() => {
      isDone = true;
    });
    await eventually('all', () => {
      for (const answer of held.splice(0)) answer();
      return isDone;
    });
    assert.deepEqual(new Set((await Promise.all(all)).map(({ kind }) => kind)), new Set(['stored']));
    assert.equal((await viewer).body, 'x');
    assert.equal(origin.requests.length, 20);
  });
});
