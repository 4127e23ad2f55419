/** The pure stages, each as a table: parse, access, key, plan, decide, admit. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { storeResponse } from '#http/store.ts';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import { compileSite } from '#sites/compile.ts';
import type { Site } from '#sites/site.ts';
import type { PolicySpec, SiteSpec } from '#sites/spec.ts';
import { type AdmitInput, admitResponse } from '../fetch/admit.ts';
import { type EdgeRequest, parseRequest, type ReceivedRequest } from '../request.ts';
import { wrapBytes } from '../store/memory-body.ts';
import type { CachedResponse } from '../store/store.ts';
import { checkAccess } from './access.ts';
import { cacheKey } from './cache-key.ts';
import { decideRequest } from './decide.ts';
import { planRequest } from './plan-request.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');

const RECEIVED_HOST = ['Host', 'www.example.com'];

const RECEIVED: ReceivedRequest = {
  method: 'GET',
  target: '/a',
  httpVersion: '1.1',
  headers: RECEIVED_HOST,
  isTls: false,
  clientAddress: '192.0.2.1',
  hasUnknownVersion: false,
  hasUnknownExpectation: false,
};

describe('stage 1', () => {
  const rows: readonly (readonly [what: string, changes: Partial<ReceivedRequest>, expected: string])[] = [
    ['a plain request', {}, 'GET www.example.com /a /a '],
    ['host in any spelling', { headers: ['host', 'WWW.Example.com.:80'] }, 'GET www.example.com /a /a '],
    ['path normalized, target as written', { target: '/%7ea?B=%7e' }, 'GET www.example.com /%7ea?B=%7e /~a ?B=%7e'],
    ['an absolute target', { target: 'http://www.example.com/x' }, 'GET www.example.com /x /x '],
    ['no Host', { headers: [] }, '400 host'],
    ['a target too long', { target: `/${'x'.repeat(9000)}` }, '414 targetTooLong'],
    ['TRACE', { method: 'TRACE' }, '405 method'],
    ['OPTIONS *', { method: 'OPTIONS', target: '*' }, 'server'],
    ['OPTIONS * without Host', { method: 'OPTIONS', target: '*', headers: [] }, '400 host'],
    ['* for another method', { target: '*' }, '400 target'],
    ['an unknown expectation', { hasUnknownExpectation: true }, '417 expectation'],
    ['a loop', { headers: ['Host', 'www.example.com', 'CDN-Loop', 'causeway'] }, '508 loop'],
  ];
  for (const [what, changes, expected] of rows) {
    test(`stage 1, ${what}: ${expected}`, () => {
      const parsed = parseRequest({ ...RECEIVED, ...changes }, 'causeway');
      assert.equal(describeParsed(parsed), expected);
    });
  }
});

function describeParsed(parsed: ReturnType<typeof parseRequest>): string {
  if (parsed.kind === 'server') return 'server';
  if (parsed.kind === 'invalid') return `${parsed.status} ${parsed.reason}`;
  return [parsed.method, parsed.host, parsed.target, parsed.keyPath, parsed.query].join(' ');
}

test('stage 3: only an open domain is served', () => {
  assert.deepEqual(checkAccess(site(), request({})), { kind: 'allow' });
  for (const state of ['closed', 'rejected', 'disabled', 'accountLimit'] as const) {
    assert.deepEqual(checkAccess(site({ state }), request({})), { kind: 'deny', reason: state });
  }
});

describe('stage 4', () => {
  const key = (target: string, changes: Parameters<typeof site>[0] = {}, isTls = false) =>
    cacheKey(site(changes), request({ target, isTls }));

  test('a key differs for another site, host, path or query', () => {
    const keys = [
      key('/a'),
      key('/a', { id: 8 }),
      cacheKey(site(), { ...request({}), host: 'other.example' }),
      key('/b'),
      key('/a?'),
      key('/a?b'),
      key('/A'),
    ];
    assert.equal(new Set(keys).size, keys.length);
  });

  test('a key does not depend on the method or the name of the site', () => {
    assert.equal(cacheKey(site(), request({ method: 'HEAD' })), cacheKey(site({ name: '*.example.com' }), request({})));
  });

  test("a key depends on the scheme only if the origin is asked by the client's", () => {
    assert.equal(key('/a', {}, true), key('/a'));
    assert.notEqual(key('/a', { protocol: 'follow' }, true), key('/a', { protocol: 'follow' }));
  });

  test('a key leaves the query out if the site says so', () => {
    assert.equal(key('/a?b', { ignoresQuery: true }), key('/a', { ignoresQuery: true }));
    assert.notEqual(key('/b?b', { ignoresQuery: true }), key('/a', { ignoresQuery: true }));
    assert.notEqual(key('/a', { ignoresQuery: true }), key('/a'), 'it may be the answer to /a?b');
  });

  test('a key cannot be mistaken in its parts', () => {
    // Neither host nor path contains blanks, so blanks separate the parts.
    assert.equal(key('/a?b=c%20d').split(' ').length, 4);
  });
});

describe('stage 5', () => {
  const rows: readonly (readonly [what: string, changes: Partial<ReceivedRequest>, expected: string])[] = [
    ['GET', {}, 'cache'],
    ['HEAD', { method: 'HEAD' }, 'cache'],
    ['POST', { method: 'POST' }, 'method'],
    ['PURGE is a method like others', { method: 'PURGE' }, 'method'],
    ['a GET with a body', { headers: [...RECEIVED_HOST, 'Content-Length', '1'] }, 'requestBody'],
    ['If-Match', { headers: [...RECEIVED_HOST, 'If-Match', '"1"'] }, 'precondition'],
    ['dot segments', { target: '/a/../b' }, 'dotSegments'],
    ['encoded dot segments', { target: '/a/%2E%2e' }, 'dotSegments'],
    ['dot segments beside encoded slashes', { target: '/a/..%2fb' }, 'dotSegments'],
    ['dots in a name', { target: '/a..b/.c' }, 'cache'],
    ['only-if-cached', { headers: [...RECEIVED_HOST, 'Cache-Control', 'only-if-cached'] }, 'cache'],
  ];
  for (const [what, changes, expected] of rows) {
    test(`stage 5, ${what}: ${expected}`, () => {
      const plan = planRequest(site(), request(changes));
      assert.equal(plan.kind === 'bypass' ? plan.reason : 'cache', expected);
    });
  }

  test('only-if-cached gets no answer from a site that stores none', () => {
    const headers = [...RECEIVED_HOST, 'Cache-Control', 'only-if-cached'];
    const uncached = { followsOrigin: false, prefixFirst: false, policies: [] };
    assert.equal(planRequest(site({ caching: uncached }), request({ headers })).kind, 'gatewayTimeout');
    assert.equal(planRequest(site(), request({ headers, target: '/a/../b' })).kind, 'gatewayTimeout');
    assert.equal(planRequest(site(), request({ headers, method: 'POST' })).kind, 'bypass');
  });

  test('lifetimes are not guessed for live and dynamic sites', () => {
    const caps = (['static', 'download', 'video', 'live', 'dynamic'] as const).map(
      (type) => planRequest(site({ type }), request({})).options.heuristicCapSeconds,
    );
    assert.deepEqual(caps, [3600, 3600, 3600, 0, 0]);
  });
});

describe('stage 5, with policies', () => {
  const jpg: PolicySpec = { match: 'suffix', content: 'jpg', priority: 1, isCached: true, lifetimeSeconds: 60 };
  const plan = (followsOrigin: boolean, policies: readonly PolicySpec[], target: string) =>
    planRequest(site({ caching: { followsOrigin, prefixFirst: false, policies } }), request({ target }));

  test("a policy's lifetime fills in, or overrides if the site does not follow its origin", () => {
    assert.deepEqual(plan(true, [jpg], '/a.jpg').options.policy, { seconds: 60, overrides: false });
    assert.deepEqual(plan(false, [jpg], '/a.jpg').options.policy, { seconds: 60, overrides: true });
  });

  test('the origin decides if no policy matches, or nothing is stored', () => {
    assert.deepEqual([plan(true, [jpg], '/a').kind, plan(true, [jpg], '/a').options.policy], ['cache', undefined]);
    const { kind, ...rest } = plan(false, [jpg], '/a');
    assert.deepEqual([kind, 'reason' in rest && rest.reason], ['bypass', 'noPolicy']);
  });

  test('a policy that forbids caching, or for no time, bypasses the cache', () => {
    for (const changes of [{ isCached: false }, { lifetimeSeconds: 0 }]) {
      const { kind, ...rest } = plan(true, [{ ...jpg, ...changes }], '/a.jpg');
      assert.deepEqual([kind, 'reason' in rest && rest.reason], ['bypass', 'policy']);
    }
  });

  test('a path that an origin may read as an uncacheable one is not stored', () => {
    const broad: PolicySpec = { match: 'prefix', content: '/', priority: 1, isCached: true, lifetimeSeconds: 60 };
    const hidden: PolicySpec = { ...broad, content: '/private/', priority: 2, isCached: false };
    const word = (followsOrigin: boolean, policies: readonly PolicySpec[], target: string) => {
      const { kind, ...rest } = plan(followsOrigin, policies, target);
      return 'reason' in rest ? rest.reason : kind;
    };
    for (const target of [
      '/private/me',
      '/private%2fme',
      '/%2Fprivate/me',
      '//private/me',
      '/private\\me',
      '/private%5cme',
    ])
      for (const follows of [true, false]) assert.equal(word(follows, [broad, hidden], target), 'policy', target);
    assert.equal(word(false, [broad, hidden], '/public%2fme'), 'cache');
    assert.equal(word(false, [{ ...broad, content: '/public//' }], '/public//me'), 'noPolicy');
    assert.equal(word(true, [{ ...broad, content: '/public//' }], '/public//me'), 'cache');
    assert.equal(word(false, [], '//a'), 'noPolicy');
  });

  test('errors and temporary redirects get no guessed lifetime, whether a policy matches or not', () => {
    const plans = [plan(true, [jpg], '/a'), plan(true, [jpg], '/a.jpg'), plan(true, [], '/a')];
    assert.deepEqual(
      plans.map(({ options }) => options.hasPolicies),
      [true, true, false],
    );
  });

  test('a missing object is asked for again soon if there are policies', () => {
    assert.equal(plan(true, [jpg], '/a').options.defaultLifetimes.get(404), 10);
    assert.equal(plan(true, [], '/a').options.defaultLifetimes.get(404), undefined);
  });
});

test('stage 7: objects requested up to the instant are absent', () => {
  const variants = [cached(NOW)];
  const kind = (absentUpTo: number, present = variants) =>
    decideRequest(
      { variants: present, invalidatedAt: undefined },
      absentUpTo,
      request({}).facts,
      NOW + 1,
      DEFAULT_CACHE_OPTIONS,
    ).decision.kind;
  assert.deepEqual([kind(0), kind(NOW - 1), kind(NOW)], ['hit', 'hit', 'miss']);
  assert.equal(kind(0, []), 'miss');
});

describe('stage 9', () => {
  const rows: readonly (readonly [what: string, changes: Partial<AdmitInput>, expected: string])[] = [
    ['an explicit lifetime', {}, 'store'],
    ['nothing', { response: response([]) }, 'noReuse'],
    ['a part', { response: response(['Cache-Control', 'max-age=60', 'Content-Range', 'bytes 0-1/2'], 206) }, 'store'],
    [
      'several parts',
      {
        response: response(
          [
            'Cache-Control',
            'max-age=60',
            'Content-Range',
            'bytes 0-1/2',
            'Content-Type',
            'Multipart/byteranges; boundary=x',
          ],
          206,
        ),
      },
      'contentRange',
    ],
    ['as large as may be', { response: response(['Cache-Control', 'max-age=60', 'Content-Length', '1000']) }, 'store'],
    ['one byte more', { response: response(['Cache-Control', 'max-age=60', 'Content-Length', '1001']) }, 'tooLarge'],
    ['invalidated meanwhile', { absentUpTo: NOW }, 'invalidated'],
    ['invalidated before', { absentUpTo: NOW - 1 }, 'store'],
    ['no room on disk', { store: { maxBodyBytes: 1000, refuses: () => 'storeFull' } }, 'storeFull'],
  ];
  for (const [what, changes, expected] of rows) {
    test(`stage 9, ${what}: ${expected}`, () => {
      const admission = admitResponse({ ...ADMIT, request: request({}).facts, ...changes });
      assert.equal(admission.kind === 'skip' ? admission.reason : 'store', expected);
    });
  }
});

const ADMIT = {
  response: response(['Cache-Control', 'max-age=60']),
  exchange: { requestAt: NOW, responseAt: NOW },
  options: DEFAULT_CACHE_OPTIONS,
  absentUpTo: 0,
  store: { maxBodyBytes: 1000, refuses: () => undefined },
};

function response(headers: readonly string[], status = 200) {
  return { status, reason: '', headers };
}

function request(changes: Partial<ReceivedRequest>): EdgeRequest {
  const parsed = parseRequest({ ...RECEIVED, ...changes }, 'causeway');
  if (parsed.kind !== 'request') throw new Error(describeParsed(parsed));
  return parsed;
}

function cached(requestAt: number): CachedResponse {
  const exchange = { requestAt, responseAt: requestAt };
  const head = response(['Cache-Control', 'max-age=60']);
  const outcome = storeResponse(request({}).facts, head, exchange, DEFAULT_CACHE_OPTIONS);
  if (outcome.kind === 'skip') throw new Error(outcome.reason);
  return { ...outcome.stored, body: wrapBytes(Buffer.alloc(0)) };
}

function site({ protocol = 'http', ...changes }: Partial<SiteSpec> & { protocol?: 'http' | 'follow' } = {}): Site {
  const origins = { protocol, primary: [{ host: 'o.example' }] };
  const spec = { id: 7, name: 'www.example.com', type: 'static', state: 'open', ...changes, origins };
  const result = compileSite(spec, 1);
  if (result.kind === 'invalid') throw new Error(result.problem);
  return result.site;
}
