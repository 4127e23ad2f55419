/** Cache policies and keys without query, over sockets: what is stored, for how long, and what reaches the origin. Edge rules 3 and 4 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CachingSpec, PolicySpec, SiteSpec } from '../../src/sites/spec.ts';
import { type FetchOptions, loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { notModified, reply } from '../support/edge/origin.ts';
import { act, client, gets, hit, miss, origin, pass, type Step, scenario } from '../support/edge/scenario.ts';
import { startSite } from '../support/edge/site.ts';
import { startNginx } from '../support/nginx.ts';
import { needs } from '../support/runner/needs.ts';

const HOUR_MS = 3_600_000;
const ALL: PolicySpec = { match: 'prefix', content: '/', priority: 1, isCached: true, lifetimeSeconds: 3600 };
const NEVER: PolicySpec = { ...ALL, isCached: false, lifetimeSeconds: 0 };
const OLD = { 'last-modified': 'Mon, 02 Nov 2020 10:00:00 GMT' };
const X = reply('x');

function caching(policies: readonly PolicySpec[], changes: Partial<CachingSpec> = {}): CachingSpec {
  return { followsOrigin: false, prefixFirst: false, policies, ...changes };
}

/** A client asks for the path; unless it is a hit, so is the origin, which answers `answer`. */
function asks(path: string, mark: string, answer = X, status = 200, options: FetchOptions = {}): readonly Step[] {
  const fetched = mark === 'HIT' ? [] : [origin(`GET ${path}`, answer)];
  return [client(`GET ${path}`, {}, options), ...fetched, gets(status, mark)];
}

function change(site: Partial<SiteSpec>): Step {
  return act(({ edge }) => edge.put({ name: SITE_HOST, ...site }));
}

function purge(path: string): readonly Step[] {
  return [pass(10), act(({ edge }) => edge.purge({ kind: 'url', target: SITE_HOST + path })), pass(10)];
}

test('hits report the age of a response as the miss does, and it does not shorten the lifetime of a policy', (t) => {
  const answer = reply('object', { age: '590', 'cache-control': 'max-age=600' });
  const fetched = [client('GET /a'), origin('GET /a', answer), gets(200, 'MISS', 'object', { age: '590' })];
  return scenario(
    t,
    [
      ...[fetched, pass(2000), hit('GET /a', 'object', { age: '592' })],
      ...[pass(3_590_000), hit('GET /a', 'object', { age: '4182' }), pass(10_000), fetched],
    ],
    { site: { caching: caching([ALL]) } },
  );
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
    test(`not following, ${status} ${JSON.stringify(headers)}: ${second} for the second viewer`, (t) => {
      const answer = reply('x', headers, status);
      const first = second === 'HIT' ? 'MISS' : second;
      const steps = [asks('/a', first, answer, status), asks('/a', second, answer, status)];
      return scenario(t, steps, { site: { caching: caching([ALL]) } });
    });
  }

  test('a domain that does not follow its origin keeps what a policy names for exactly its time, and nothing else', (t) => {
    const policy: PolicySpec = { ...ALL, match: 'suffix', content: 'jpg', lifetimeSeconds: 60 };
    const fetched = miss('GET /a.jpg', reply('x', { 'cache-control': 'max-age=600' }));
    const past = asks('/a.png', 'BYPASS noPolicy');
    return scenario(t, [fetched, hit('GET /a.jpg'), past, past, pass(61_000), fetched], {
      site: { caching: caching([policy]) },
    });
  });
});

test('a domain that follows its origin obeys the origin first, then the policy, then a guess', (t) => {
  const policy: PolicySpec = { ...ALL, lifetimeSeconds: 24 * 3600 };
  const said = miss('GET /said', reply('x', { 'cache-control': 'max-age=60' }));
  return scenario(
    t,
    [
      ...[said, hit('GET /said'), miss('GET /unsaid', reply('x', OLD)), hit('GET /unsaid')],
      ...[pass(2 * HOUR_MS), said, hit('GET /unsaid')], // a guess is at most an hour
    ],
    { site: { caching: caching([policy], { followsOrigin: true }) } },
  );
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
    test(`following, ${status} ${JSON.stringify(headers)}: ${second} with policies, matching or not; ${without} without`, (t) => {
      const answer = reply('x', { location: '/b', ...headers }, status);
      const twice = (path: string, mark: string) => [
        ...asks(path, mark === 'HIT' ? 'MISS' : mark, answer, status),
        ...asks(path, mark, answer, status),
      ];
      const unruled = change({ caching: caching([], { followsOrigin: true }) });
      const steps = [twice('/a.jpg', second), twice('/a', second), unruled, twice('/other', without)];
      return scenario(t, steps, { site: { caching: caching([jpg], { followsOrigin: true }) } });
    });
  }
});

test('no-cache with a validator is stored and validated each time if the origin is followed, and otherwise never stored', (t) => {
  const fields = { 'cache-control': 'no-cache', etag: '"a"' };
  const unstored = asks('/b', 'MISS noCache', reply('x', fields));
  return scenario(
    t,
    [
      miss('GET /a', reply('x', fields)),
      ...[
        client('GET /a'),
        origin('GET /a', notModified(fields), { 'if-none-match': '"a"' }),
        gets(200, 'REVALIDATED'),
      ],
      ...[change({ caching: caching([ALL]) }), unstored, unstored],
    ],
    { site: { caching: caching([ALL], { followsOrigin: true }) } },
  );
});

test('a missing object is asked for again after 10 s', (t) => {
  const missing = asks('/a', 'MISS', reply('', {}, 404), 404);
  return scenario(t, [missing, asks('/a', 'HIT', X, 404), pass(11_000), missing], {
    site: { caching: caching([ALL]) },
  });
});

describe('which policy decides', () => {
  const jpg: PolicySpec = { ...ALL, match: 'suffix', content: 'jpg', priority: 9 };
  const api: PolicySpec = { ...NEVER, content: '/api' };

  test('the policy of the highest priority wins, unless directories go first', (t) =>
    scenario(
      t,
      [
        ...[asks('/api/a.jpg', 'MISS'), change({ caching: caching([api, jpg], { prefixFirst: true }) })],
        ...[asks('/api/a.jpg', 'BYPASS policy'), asks('/apis/a.jpg', 'MISS')],
      ],
      { site: { caching: caching([api, jpg]) } },
    ));

  test('the earlier of equal policies wins; a policy for https does not apply over http', (t) =>
    scenario(
      t,
      [
        ...[asks('/', 'BYPASS policy'), change({ caching: caching([ALL, NEVER]) }), asks('/', 'MISS')],
        ...[change({ caching: caching([{ ...ALL, scheme: 'https' }]) }), asks('/', 'BYPASS noPolicy')],
      ],
      { site: { caching: caching([NEVER, ALL]) } },
    ));

  test('every spelling of a path has the policy of the object, and reaches the origin as it was written', (t) =>
    scenario(
      t,
      ['/api/x', '/%61pi/x', '/ap%69/x?y'].map((path) => asks(path, 'BYPASS policy')),
      { site: { caching: caching([api, { ...ALL, priority: 1 }]) } },
    ));

  test('patterns see the URL of each host below a wildcard', (t) => {
    const pattern: PolicySpec = { ...ALL, match: 'regex', content: '^http://img[0-9]+\\.' };
    const askOf = (name: string, mark: string) => asks('/a', mark, X, 200, { host: `${name}.example.net` });
    return scenario(t, [
      act(({ edge, origin }) => {
        const origins = { ...NO_ORIGINS, primary: loopback([origin.port]) };
        edge.put({ name: '*.example.net', origins, caching: caching([pattern]) });
      }),
      ...[askOf('img1', 'MISS'), askOf('img1', 'HIT'), askOf('img2', 'MISS'), askOf('www', 'BYPASS noPolicy')],
    ]);
  });
});

describe('a policy that changes', () => {
  test('a policy that now forbids caching holds at once, and stored objects are not served', (t) => {
    const steps = [
      asks('/a', 'MISS'),
      hit('GET /a'),
      change({ caching: caching([NEVER]) }),
      asks('/a', 'BYPASS policy'),
    ];
    return scenario(t, steps, { site: { caching: caching([ALL]) } });
  });

  test('a changed lifetime applies to later fetches, and a purge makes it apply to all', (t) =>
    scenario(
      t,
      [
        ...[miss('GET /a', X), change({ caching: caching([{ ...ALL, lifetimeSeconds: 60 }]) })],
        ...[pass(120_000), hit('GET /a')], // stored for an hour
        ...[purge('/a'), miss('GET /a', X), hit('GET /a')],
        ...[pass(120_000), miss('GET /a', X)], // stored for a minute
      ],
      { site: { caching: caching([ALL]) } },
    ));
});

test('a request past the cache is passed on unchanged, with conditions and range', (t) =>
  scenario(
    t,
    [
      client('GET /a?b=c', { 'If-None-Match': '"z"', Range: 'bytes=0-0', Cookie: 'd=e' }),
      origin('GET /a?b=c', reply('x', { etag: '"a"' }), { 'if-none-match': '"z"', range: 'bytes=0-0', cookie: 'd=e' }),
      gets(200, 'BYPASS policy'),
    ],
    { site: { caching: caching([NEVER]) } },
  ));

describe('keys without the query', () => {
  const FRESH = { 'cache-control': 'max-age=600' };
  const SITE = { site: { ignoresQuery: true } };

  test("one object serves all queries; the origin sees the first one's", (t) =>
    scenario(t, [miss('GET /a?x=1', reply('x', FRESH)), hit('GET /a?x=2'), hit('GET /a')], SITE));

  for (const target of ['/a', '/a?x=1', '/a?never=asked']) {
    test(`a purge of ${target} covers it`, (t) =>
      scenario(t, [miss('GET /a?x=1', reply('x', FRESH)), purge(target), miss('GET /a?x=2', reply('x', FRESH))], SITE));
  }

  test('a response to some query is not served as the object without one, once queries count again', (t) => {
    const fetched = (path: string) => miss(`GET ${path}`, reply(path, FRESH), path);
    return scenario(
      t,
      [
        ...[fetched('/a?x=1'), change({ ignoresQuery: false }), fetched('/a'), purge('/a?x=1')],
        ...[change({ ignoresQuery: true }), fetched('/a?y')], // purged meanwhile
      ],
      SITE,
    );
  });

  test('a POST to any query invalidates the object, and a prefetch of any query stores it', async (t) => {
    const { edge } = await startSite(t, reply('x', FRESH), SITE);
    const mark = async (path: string, options: FetchOptions = {}) => (await edge.get(path, options)).headers['x-cache'];
    const prefetched = await edge.edge.prefetch({ host: SITE_HOST, target: '/a?x=1', scheme: 'http' });
    assert.deepEqual([prefetched.kind, await mark('/a?x=2')], ['stored', 'HIT']);
    edge.advance(10);
    await mark('/a?x=3', { method: 'POST', body: 'y' });
    edge.advance(10);
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
  const rows: readonly (readonly [type: SiteSpec['type'], guessed: string])[] = [
    ['static', 'HIT'],
    ['download', 'HIT'],
    ['video', 'HIT'],
    ['live', 'MISS'],
    ['dynamic', 'MISS'],
  ];
  for (const [type, guessed] of rows) {
    test(`${type}: a response without a lifetime is ${guessed} for the second viewer, one with a lifetime is a hit`, (t) => {
      const unsaid = reply('x', OLD);
      const said = miss('GET /said', reply('x', { 'cache-control': 'max-age=60' }));
      const twice = [asks('/unsaid', 'MISS', unsaid), asks('/unsaid', guessed, unsaid)];
      return scenario(t, [...twice, said, hit('GET /said')], { site: { type } });
    });
  }

  test('a policy is not a guess: it applies to every type', (t) =>
    scenario(t, [miss('GET /a', X), hit('GET /a')], { site: { type: 'dynamic', caching: caching([ALL]) } }));
});
