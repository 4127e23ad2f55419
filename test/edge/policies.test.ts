/** Cache policies and keys without query, over sockets: what is stored, for how long, and what reaches the origin. Edge rules 3 and 4 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { CachingSpec, PolicySpec, SiteSpec } from '../../src/sites/spec.ts';
import { type FetchOptions, loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { type Answer, reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { startNginx } from '../support/nginx.ts';
import { needs } from '../support/runner/needs.ts';

const HOUR_MS = 3_600_000;
const ALL: PolicySpec = { match: 'prefix', content: '/', priority: 1, isCached: true, lifetimeSeconds: 3600 };
const NEVER: PolicySpec = { ...ALL, isCached: false, lifetimeSeconds: 0 };
const OLD = { 'last-modified': 'Mon, 02 Nov 2020 10:00:00 GMT' };

function caching(policies: readonly PolicySpec[], changes: Partial<CachingSpec> = {}): CachingSpec {
  return { followsOrigin: false, prefixFirst: false, policies, ...changes };
}

async function start(t: TestContext, script: Answer, site: Partial<SiteSpec>) {
  const { edge, origin } = await startSite(t, script);
  edge.put({ name: SITE_HOST, ...site });
  const mark = async (path: string, options: FetchOptions = {}) => (await edge.get(path, options)).headers['x-cache'];
  /** What the first and the second request for a path find. */
  const twice = async (path: string) => [await mark(path), await mark(path)];
  const change = (changed: Partial<SiteSpec>) => edge.put({ name: SITE_HOST, ...changed });
  return { ...edge, origin, mark, twice, change };
}

test('hits report the age of a response as the miss does, and it does not shorten the lifetime of a policy', async (t) => {
  const edge = await start(t, reply('object', { age: '590', 'cache-control': 'max-age=600' }), {
    caching: caching([ALL]),
  });
  const ages: (string | undefined)[] = [];
  for (const aheadMs of [0, 2000, 3_590_000, 10_000]) {
    edge.advance(aheadMs);
    const { headers } = await edge.get('/a');
    ages.push(`${headers['x-cache']} ${headers['age']}`);
  }
  assert.deepEqual(ages, ['MISS 590', 'HIT 592', 'HIT 4182', 'MISS 590']);
});

describe('a domain that does not follow its origin', () => {
  const rows: readonly (readonly [Readonly<Record<string, string>>, status: number, second: string])[] = [
    [{}, 200, 'HIT'],
    [{ 'cache-control': 'max-age=0' }, 200, 'HIT'],
    [{ 'cache-control': 's-maxage=0, must-revalidate' }, 200, 'HIT'],
    [{ expires: 'Mon, 02 Nov 2020 10:00:00 GMT' }, 200, 'HIT'],
    [{ 'cdn-cache-control': 'max-age=0' }, 200, 'HIT'],
    [{ age: '999999' }, 200, 'HIT'],
    [{ location: '/b' }, 301, 'HIT'],
    [{ location: '/b' }, 302, 'MISS notCacheable'],
    [{ 'cache-control': 'no-store' }, 200, 'MISS noStore'],
    [{ 'cache-control': 'no-cache, max-age=60' }, 200, 'MISS noCache'],
    [{ pragma: 'no-cache' }, 200, 'MISS noCache'],
    [{ pragma: 'no-cache; x' }, 200, 'MISS noCache'],
    [{ 'cache-control': 'private, max-age=60' }, 200, 'MISS private'],
    [{ 'cache-control': 'private; max-age=0' }, 200, 'MISS private'],
    [{ 'cache-control': 'no-cache no-store must-revalidate' }, 200, 'MISS noStore'],
    [{ 'set-cookie': 'a=b' }, 200, 'MISS setCookie'],
    [{ vary: '*' }, 200, 'MISS varyAny'],
    [{ 'cache-control': 'max-age=60' }, 500, 'MISS notCacheable'],
    [{}, 404, 'HIT'],
  ];
  for (const [headers, status, second] of rows) {
    test(`not following, ${status} ${JSON.stringify(headers)}: ${second} for the second viewer`, async (t) => {
      const { twice } = await start(t, reply('x', headers, status), { caching: caching([ALL]) });
      assert.equal((await twice('/a'))[1], second);
    });
  }

  test('a domain that does not follow its origin keeps what a policy names for exactly its time, and nothing else', async (t) => {
    const policy: PolicySpec = { ...ALL, match: 'suffix', content: 'jpg', lifetimeSeconds: 60 };
    const script = reply('x', { 'cache-control': 'max-age=600' });
    const { twice, mark, advance } = await start(t, script, { caching: caching([policy]) });
    assert.deepEqual(await twice('/a.jpg'), ['MISS', 'HIT']);
    assert.deepEqual(await twice('/a.png'), ['BYPASS noPolicy', 'BYPASS noPolicy']);
    advance(61_000);
    assert.equal(await mark('/a.jpg'), 'MISS');
  });
});

test('a domain that follows its origin obeys the origin first, then the policy, then a guess', async (t) => {
  const script: Answer = (request, response) => {
    const headers = request.target.startsWith('/said') ? { 'cache-control': 'max-age=60' } : OLD;
    reply('x', headers)(request, response);
  };
  const policy: PolicySpec = { ...ALL, lifetimeSeconds: 24 * 3600 };
  const { twice, mark, advance } = await start(t, script, { caching: caching([policy], { followsOrigin: true }) });
  for (const path of ['/said', '/unsaid']) assert.deepEqual(await twice(path), ['MISS', 'HIT']);
  advance(2 * HOUR_MS); // a guess is at most an hour
  assert.deepEqual([await mark('/said'), await mark('/unsaid')], ['MISS', 'HIT']);
});

describe('a domain that follows its origin', () => {
  const MAX_AGE = { 'cache-control': 'max-age=60' };
  const PUBLIC = { ...OLD, 'cache-control': 'public' };
  const jpg: PolicySpec = { ...ALL, match: 'suffix', content: 'jpg' };
  type Row = readonly [headers: Readonly<Record<string, string>>, status: number, second: string, without: string];
  const rows: readonly Row[] = [
    [{}, 302, 'MISS notCacheable', 'MISS notCacheable'],
    [PUBLIC, 302, 'MISS notCacheable', 'HIT'],
    [PUBLIC, 307, 'MISS notCacheable', 'HIT'],
    [MAX_AGE, 302, 'HIT', 'HIT'],
    [PUBLIC, 503, 'MISS notCacheable', 'HIT'],
    [MAX_AGE, 503, 'MISS notCacheable', 'HIT'],
    [PUBLIC, 200, 'HIT', 'HIT'],
  ];
  for (const [headers, status, second, without] of rows) {
    test(`following, ${status} ${JSON.stringify(headers)}: ${second} with policies, matching or not; ${without} without`, async (t) => {
      const { twice, change } = await start(t, reply('x', { location: '/b', ...headers }, status), {
        caching: caching([jpg], { followsOrigin: true }),
      });
      for (const path of ['/a.jpg', '/a']) assert.equal((await twice(path))[1], second, path);
      change({ caching: caching([], { followsOrigin: true }) });
      assert.equal((await twice('/other'))[1], without);
    });
  }
});

test('no-cache with a validator is stored and validated each time if the origin is followed, and otherwise never stored', async (t) => {
  const script: Answer = (request, response) => {
    const isKnown = request.headers['if-none-match'] === '"a"';
    reply(isKnown ? '' : 'x', { 'cache-control': 'no-cache', etag: '"a"' }, isKnown ? 304 : 200)(request, response);
  };
  const { twice, change } = await start(t, script, { caching: caching([ALL], { followsOrigin: true }) });
  assert.deepEqual(await twice('/a'), ['MISS', 'REVALIDATED']);
  change({ caching: caching([ALL]) });
  assert.deepEqual(await twice('/b'), ['MISS noCache', 'MISS noCache']);
});

test('a missing object is asked for again after 10 s', async (t) => {
  const { twice, mark, advance } = await start(t, reply('', {}, 404), { caching: caching([ALL]) });
  assert.deepEqual(await twice('/a'), ['MISS', 'HIT']);
  advance(11_000);
  assert.equal(await mark('/a'), 'MISS');
});

describe('which policy decides', () => {
  const jpg: PolicySpec = { ...ALL, match: 'suffix', content: 'jpg', priority: 9 };
  const api: PolicySpec = { ...NEVER, content: '/api' };

  test('the policy of the highest priority wins, unless directories go first', async (t) => {
    const { mark, change } = await start(t, reply('x'), { caching: caching([api, jpg]) });
    assert.equal(await mark('/api/a.jpg'), 'MISS');
    change({ caching: caching([api, jpg], { prefixFirst: true }) });
    assert.equal(await mark('/api/a.jpg'), 'BYPASS policy');
    assert.equal(await mark('/apis/a.jpg'), 'MISS', 'another directory');
  });

  test('the earlier of equal policies wins; a policy for https does not apply over http', async (t) => {
    const { mark, change } = await start(t, reply('x'), { caching: caching([NEVER, ALL]) });
    assert.equal(await mark('/'), 'BYPASS policy');
    change({ caching: caching([ALL, NEVER]) });
    assert.equal(await mark('/'), 'MISS');
    change({ caching: caching([{ ...ALL, scheme: 'https' }]) });
    assert.equal(await mark('/'), 'BYPASS noPolicy');
  });

  test('every spelling of a path has the policy of the object', async (t) => {
    const { mark, origin } = await start(t, reply('x'), { caching: caching([api, { ...ALL, priority: 1 }]) });
    for (const path of ['/api/x', '/%61pi/x', '/ap%69/x?y']) assert.equal(await mark(path), 'BYPASS policy', path);
    assert.deepEqual(
      origin.requests.map(({ target }) => target),
      ['/api/x', '/%61pi/x', '/ap%69/x?y'],
    );
  });

  test('patterns see the URL of each host below a wildcard', async (t) => {
    const { mark, put, origin } = await start(t, reply('x'), {});
    const pattern: PolicySpec = { ...ALL, match: 'regex', content: '^http://img[0-9]+\\.' };
    const origins = { ...NO_ORIGINS, primary: loopback([origin.port]) };
    put({ name: '*.example.net', origins, caching: caching([pattern]) });
    const marks = ['img1', 'img1', 'img2', 'www'].map((name) => ({ host: `${name}.example.net` }));
    const found: unknown[] = [];
    for (const options of marks) found.push(await mark('/a', options));
    assert.deepEqual(found, ['MISS', 'HIT', 'MISS', 'BYPASS noPolicy']);
  });
});

describe('a policy that changes', () => {
  test('a policy that now forbids caching holds at once, and stored objects are not served', async (t) => {
    const { twice, mark, change, origin } = await start(t, reply('old'), { caching: caching([ALL]) });
    await twice('/a');
    change({ caching: caching([NEVER]) });
    assert.equal(await mark('/a'), 'BYPASS policy');
    assert.equal(origin.requests.length, 2);
  });

  test('a changed lifetime applies to later fetches, and a purge makes it apply to all', async (t) => {
    const { twice, mark, change, advance, purge } = await start(t, reply('x'), { caching: caching([ALL]) });
    await twice('/a');
    change({ caching: caching([{ ...ALL, lifetimeSeconds: 60 }]) });
    advance(120_000);
    assert.equal(await mark('/a'), 'HIT', 'stored for an hour');
    purge({ kind: 'url', target: `${SITE_HOST}/a` });
    advance(10);
    assert.deepEqual(await twice('/a'), ['MISS', 'HIT']);
    advance(120_000);
    assert.equal(await mark('/a'), 'MISS', 'stored for a minute');
  });
});

test('a request past the cache is passed on unchanged, with conditions and range', async (t) => {
  const { mark, origin } = await start(t, reply('x', { etag: '"a"' }), { caching: caching([NEVER]) });
  await mark('/a?b=c', { headers: ['If-None-Match', '"z"', 'Range', 'bytes=0-0', 'Cookie', 'd=e'] });
  const [seen] = origin.requests;
  assert.deepEqual(
    [seen?.target, seen?.headers['if-none-match'], seen?.headers['range'], seen?.headers['cookie']],
    ['/a?b=c', '"z"', 'bytes=0-0', 'd=e'],
  );
});

describe('keys without the query', () => {
  const FRESH = { 'cache-control': 'max-age=600' };

  test("one object serves all queries; the origin sees the first one's", async (t) => {
    const { mark, origin } = await start(t, reply('x', FRESH), { ignoresQuery: true });
    assert.deepEqual([await mark('/a?x=1'), await mark('/a?x=2'), await mark('/a')], ['MISS', 'HIT', 'HIT']);
    assert.deepEqual(
      origin.requests.map(({ target }) => target),
      ['/a?x=1'],
    );
  });

  for (const target of ['/a', '/a?x=1', '/a?never=asked']) {
    test(`a purge of ${target} covers it`, async (t) => {
      const { mark, purge, advance } = await start(t, reply('x', FRESH), { ignoresQuery: true });
      await mark('/a?x=1');
      advance(10);
      purge({ kind: 'url', target: `${SITE_HOST}${target}` });
      advance(10);
      assert.equal(await mark('/a?x=2'), 'MISS');
    });
  }

  test('a response to some query is not served as the object without one, once queries count again', async (t) => {
    const script: Answer = (request, response) => reply(request.target, FRESH)(request, response);
    const { get, change, purge, advance } = await start(t, script, { ignoresQuery: true });
    await get('/a?x=1');
    change({ ignoresQuery: false });
    assert.equal((await get('/a')).body, '/a');
    advance(10);
    purge({ kind: 'url', target: `${SITE_HOST}/a?x=1` });
    advance(10);
    change({ ignoresQuery: true });
    assert.equal((await get('/a?y')).body, '/a?y', 'purged meanwhile');
  });

  test('a POST to any query invalidates the object, and a prefetch of any query stores it', async (t) => {
    const { mark, edge, advance } = await start(t, reply('x', FRESH), { ignoresQuery: true });
    const prefetched = await edge.prefetch({ host: SITE_HOST, target: '/a?x=1', scheme: 'http' });
    assert.deepEqual([prefetched.kind, await mark('/a?x=2')], ['stored', 'HIT']);
    advance(10);
    await mark('/a?x=3', { method: 'POST', body: 'y' });
    advance(10);
    assert.equal(await mark('/a?x=2'), 'MISS');
  });
});

describe('nginx, which decodes a path and then merges its slashes', needs('nginx'), () => {
  const PATHS = [
    ['/private/me', 'BYPASS policy'],
    ['/x/..%2fprivate/me', 'BYPASS dotSegments'],
    ['/x%2f../private/me', 'BYPASS dotSegments'],
    ['/x/%2e%2e%2fprivate/me', 'BYPASS dotSegments'],
    ['/%2fprivate/me', 'BYPASS policy'],
    ['/private%2fme', 'BYPASS policy'],
    ['//private/me', 'BYPASS policy'],
    ['/%2F/private%2F/me', 'BYPASS policy'],
    ['/%70rivate%2Fme', 'BYPASS policy'],
    ['/our%26own/me', 'BYPASS policy'],
  ] as const;
  for (const followsOrigin of [false, true]) {
    test(`each viewer's request reaches nginx if a policy forbids caching, in every spelling; following: ${followsOrigin}`, async (t) => {
      const nginx = await startNginx(t, {
        server: `location / { return 200 "public"; }
          location /private/ { return 200 "private of $http_cookie"; }
          location "/our&own/" { return 200 "private of $http_cookie"; }`,
      });
      const edge = await startTestEdge(t, [nginx.port]);
      const hidden = ['/private/', '/our&own/'].map((content) => ({ ...NEVER, content, priority: 2 }));
      const origins = { ...NO_ORIGINS, primary: loopback([nginx.port]) };
      edge.put({ name: SITE_HOST, origins, caching: caching([ALL, ...hidden], { followsOrigin }) });
      for (const [path, word] of PATHS) {
        for (const viewer of ['alice', 'bob']) {
          const { body, headers } = await edge.get(path, { headers: ['Cookie', viewer] });
          assert.deepEqual([body, headers['x-cache']], [`private of ${viewer}`, word], path);
        }
        const question = { method: 'GET', scheme: 'http', host: SITE_HOST, target: path, headers: [] } as const;
        const explained = await edge.edge.explain({ ...question, clientAddress: '127.0.0.1' });
        assert.equal(explained.xCache, word);
        if (word === 'BYPASS policy') assert.match(JSON.stringify(explained.steps), /policy prefix .*: 0 s/);
      }
      for (const path of ['/x%2fy', '//x'])
        for (const word of ['MISS', 'HIT']) assert.equal((await edge.get(path)).headers['x-cache'], word, path);
    });
  }
});

describe('a domain that was never configured', () => {
  const rows: readonly (readonly [type: SiteSpec['type'], guessed: RegExp])[] = [
    ['static', /^HIT$/],
    ['download', /^HIT$/],
    ['video', /^HIT$/],
    ['live', /^MISS/],
    ['dynamic', /^MISS/],
  ];
  for (const [type, guessed] of rows) {
    test(`${type}: a response without a lifetime is ${guessed} for the second viewer, one with a lifetime is a hit`, async (t) => {
      const { twice, origin } = await start(t, reply('x', OLD), { type });
      assert.match((await twice('/unsaid'))[1] ?? '', guessed);
      origin.answer(reply('x', { 'cache-control': 'max-age=60' }));
      assert.equal((await twice('/said'))[1], 'HIT');
    });
  }

  test('a policy is not a guess: it applies to every type', async (t) => {
    const { twice } = await start(t, reply('x'), { type: 'dynamic', caching: caching([ALL]) });
    assert.equal((await twice('/a'))[1], 'HIT');
  });
});
