/** Purges as an edge applies them, and prefetches: real sockets, the site's purges as the feed would bring them. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { PurgeScope } from '../../src/sites/purge.ts';
import { connectRaw, loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';

const FRESH = { 'cache-control': 'max-age=60', etag: '"1"' };
const url = (target: string): PurgeScope => ({ kind: 'url', target: SITE_HOST + target });

describe('a purge', () => {
  const rows: readonly (readonly [what: string, scope: PurgeScope, gone: readonly string[]])[] = [
    ['of an address', url('/a/b?x=1'), ['/a/b?x=1']],
    ['of an address without its query', url('/a/b'), ['/a/b']],
    ['of a directory', { kind: 'directory', target: `${SITE_HOST}/a/` }, ['/a/', '/a/b', '/a/b?x=1']],
    ['of the site', { kind: 'site', target: '' }, ['/', '/a', '/a/', '/a/b', '/a/b?x=1', '/ab']],
  ];
  for (const [what, scope, gone] of rows) {
    test(`a purge of ${what} covers what it names and nothing else`, async (t) => {
      const origin = await startOrigin(t, reply('x', FRESH));
      const edge = await startTestEdge(t, [origin.port]);
      const all = ['/', '/a', '/a/', '/a/b', '/a/b?x=1', '/ab'];
      for (const path of all) await edge.get(path);
      edge.advance(10);
      edge.purge(scope);
      edge.advance(10);
      const missed: string[] = [];
      for (const path of all) if ((await edge.get(path)).headers['x-cache'] === 'MISS') missed.push(path);
      assert.deepEqual(missed, gone);
      for (const path of all) assert.equal((await edge.get(path)).headers['x-cache'], 'HIT', path);
    });
  }

  test('a purge covers every variant, HEAD and ranges included, and the next request has no conditions', async (t) => {
    let version = 1;
    const origin = await startOrigin(t, (request, response) => {
      const coding = request.headers['accept-encoding'] === 'gzip' ? { 'content-encoding': 'gzip' } : {};
      const text = Buffer.from(`version ${version}`);
      const body = 'content-encoding' in coding ? gzipSync(text) : text;
      reply(body, { ...FRESH, ...coding, vary: 'Accept-Encoding' })(request, response);
    });
    const edge = await startTestEdge(t, [origin.port]);
    const variants: readonly (readonly string[])[] = [[], ['Accept-Encoding', 'gzip'], ['Accept-Encoding', 'br']];
    for (const headers of variants) await edge.get('/', { headers });
    version = 2;
    edge.advance(10);
    edge.purge(url('/'));
    edge.advance(10);
    const seen = origin.requests.length;
    assert.equal((await edge.get('/', { method: 'HEAD' })).headers['x-cache'], 'MISS method');
    // This origin knows no ranges, so its answer is the whole.
    assert.equal((await edge.get('/', { headers: ['Range', 'bytes=0-3'] })).headers['x-cache'], 'MISS');
    assert.deepEqual([(await edge.get('/')).body, (await edge.get('/')).headers['x-cache']], ['version 2', 'HIT']);
    for (const headers of variants.slice(1))
      assert.equal((await edge.get('/', { headers })).headers['x-cache'], 'MISS');
    assert.equal(origin.requests.length, seen + 4);
    // Later ones may offer the tag of what has come since.
    assert.equal(origin.requests[seen + 1]?.headers['if-none-match'], undefined);
  });

  test('a purge covers stale copies: neither a dead origin nor a stale window brings them back', async (t) => {
    const windows = { 'cache-control': 'max-age=10, stale-while-revalidate=600, stale-if-error=600' };
    for (const headers of [{ 'cache-control': 'max-age=10' }, windows]) {
      const origin = await startOrigin(t, reply('old', headers));
      const edge = await startTestEdge(t, [origin.port]);
      await edge.get('/');
      edge.advance(20_000);
      edge.purge(url('/'));
      edge.advance(10);
      await origin.stop();
      assert.equal((await edge.get('/')).status, 502);
    }
  });

  test('a purge keeps out responses that were being fetched, even if their body arrives later', async (t) => {
    let finish: (() => void) | undefined;
    const origin = await startOrigin(t, (_request, response) => {
      response.writeHead(200, { ...FRESH, 'content-length': '8' });
      response.write('old ');
      finish = () => response.end('body');
    });
    const edge = await startTestEdge(t, [origin.port]);
    const slow = edge.get('/');
    await eventually('under way', () => finish !== undefined);
    edge.advance(10);
    edge.purge(url('/'));
    edge.advance(10);
    finish?.();
    assert.equal((await slow).body, 'old body');
    origin.answer(reply('new', FRESH));
    assert.equal((await edge.get('/')).body, 'new');
  });

  test('a purge is not undone by a 304 to a validation in flight', async (t) => {
    let answer: (() => void) | undefined;
    const origin = await startOrigin(t, reply('old', { 'cache-control': 'max-age=10', etag: '"1"' }));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/');
    edge.advance(20_000);
    origin.answer((request, response) => {
      if (request.headers['if-none-match'] === undefined) return reply('new', FRESH)(request, response);
      answer = () => response.writeHead(304, FRESH).end();
    });
    const validated = edge.get('/');
    await eventually('under way', () => answer !== undefined);
    edge.advance(10);
    edge.purge(url('/'));
    edge.advance(10);
    answer?.();
    assert.equal((await validated).body, 'new');
    assert.deepEqual([(await edge.get('/')).body, (await edge.get('/')).headers['x-cache']], ['new', 'HIT']);
  });

  test('a purge compares with the request that fetched the bytes, not with the 304 that renewed them', async (t) => {
    const origin = await startOrigin(t, reply('old', { 'cache-control': 'max-age=10', etag: '"1"' }));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/');
    edge.advance(20_000);
    origin.answer((_request, response) => response.writeHead(304, FRESH).end());
    assert.equal((await edge.get('/')).headers['x-cache'], 'REVALIDATED');
    // A purge that another process stamped before the 304 and that is heard of only now.
    edge.advance(-5_000);
    edge.purge(url('/'));
    edge.advance(5_000);
    origin.answer(reply('new', FRESH));
    assert.equal((await edge.get('/')).body, 'new');
  });

  test('a purge ends a hit-for-miss mark', async (t) => {
    const origin = await startOrigin(t, reply('private', { 'cache-control': 'private' }));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/');
    edge.advance(10);
    edge.purge(url('/'));
    edge.advance(10);
    const held: (() => void)[] = [];
    origin.answer((request, response) => void held.push(() => reply('shared', FRESH)(request, response)));
    const all = Promise.all(Array.from({ length: 5 }, () => edge.get('/')));
    await eventually('led', () => held.length === 1);
    held[0]?.();
    assert.deepEqual(new Set((await all).map(({ body }) => body)), new Set(['shared']));
    assert.equal(origin.requests.length, 2);
  });
});

test('an object older than 30 days is absent, even if it claims to be fresh or was renewed since', async (t) => {
  const long = { 'cache-control': 'max-age=31536000', etag: '"1"' };
  const origin = await startOrigin(t, reply('x', long));
  const edge = await startTestEdge(t, [origin.port]);
  await edge.get('/');
  edge.advance(29.9 * 24 * 3600_000);
  assert.equal((await edge.get('/')).headers['x-cache'], 'HIT');
  edge.advance(0.2 * 24 * 3600_000);
  assert.equal((await edge.get('/')).headers['x-cache'], 'MISS');
  assert.equal(origin.requests[1]?.headers['if-none-match'], undefined);
});

describe('a prefetch', () => {
  const asked = { host: SITE_HOST, target: '/a?b=1', scheme: 'http' } as const;

  test('a prefetch stores the object, and says so; a second one finds it', async (t) => {
    const origin = await startOrigin(t, reply('hello', FRESH));
    const edge = await startTestEdge(t, [origin.port]);
    assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'stored' });
    assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'stored' });
    const hit = await edge.get('/a?b=1');
    assert.deepEqual([hit.body, hit.headers['x-cache'], origin.requests.length], ['hello', 'HIT', 1]);
  });

  test('a prefetch validates a stale object', async (t) => {
    const origin = await startOrigin(t, reply('hello', { ...FRESH, 'cache-control': 'max-age=10' }));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/a?b=1');
    edge.advance(20_000);
    origin.answer((_request, response) => response.writeHead(304, FRESH).end());
    assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'stored' });
    assert.equal((await edge.get('/a?b=1')).headers['x-cache'], 'HIT');
  });

  test('a prefetch of a large object is done when the object is stored', async (t) => {
    const body = Buffer.alloc(3_000_000, 'x');
    const origin = await startOrigin(t, reply(body, FRESH));
    const edge = await startTestEdge(t, [origin.port]);
    assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'stored' });
    assert.equal((await edge.get('/a?b=1')).headers['x-cache'], 'HIT');
  });

  const failures: readonly (readonly [reason: string, headers: Record<string, string>, status?: number])[] = [
    ['noStore', { 'cache-control': 'no-store' }],
    ['setCookie', { ...FRESH, 'set-cookie': 'a=b' }],
    ['noReuse', {}],
    ['errorStatus', FRESH, 404],
    ['errorStatus', {}, 503],
  ];
  for (const [reason, headers, status = 200] of failures) {
    test(`a prefetch says why it stored nothing: ${reason} (${status})`, async (t) => {
      const origin = await startOrigin(t, reply('x', headers, status));
      const edge = await startTestEdge(t, [origin.port]);
      for (let i = 0; i < 2; i++) {
        assert.deepEqual(await edge.edge.prefetch(asked), { kind: 'failed', reason });
      }
    });
  }

  test('a prefetch says that no origin answers, a body breaks off, the host is unknown or closed, or the target is invalid', async (t) => {
    const origin = await startOrigin(t, (_request, response) => {
      response.writeHead(200, { ...FRESH, 'content-length': '10' });
      response.write('abc', () => response.destroy());
    });
    const edge = await startTestEdge(t, [origin.port]);
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
    const origin = await startOrigin(t, (_request, answer) => {
      answer.writeHead(200, { ...FRESH, 'content-length': String(body.length) });
      answer.write(body.subarray(0, 1000));
      response = answer;
    });
    const edge = await startTestEdge(t, [origin.port], { cacheBytes: 256 * 2 ** 20 });
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
    const origin = await startOrigin(t, (request, response) => {
      held.push(() => reply('x', FRESH)(request, response));
    });
    const edge = await startTestEdge(t, [origin.port]);
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
