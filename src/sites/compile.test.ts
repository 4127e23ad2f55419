/**
 * Compiled sites are golden files: `golden/x.spec.json` → `golden/x.site.json`, of which all but `plain` have only the
 * members that differ from it. What is refused is a table.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { compileSite } from './compile.ts';

const GOLDEN = join(import.meta.dirname, 'golden');
const REVISION = 7;
const POLICY = { match: 'prefix', content: '/', priority: 1, isCached: true, lifetimeSeconds: 60 };
const LIMIT = { match: 'prefix', content: '/', requests: 1, seconds: 60, burst: 1 };
const REDIRECT = { match: 'prefix', content: '/old', target: '/new', status: 301, keepsQuery: true };
const REFERER = { mode: 'deny', allowsBlank: true };

describe('compileSite', () => {
  const specs = globSync('*.spec.json', { cwd: GOLDEN }).sort();
  assert.ok(specs.length >= 4);
  for (const file of specs) {
    test(`${file} compiles to its golden site`, () => {
      const result = compileSite(readJson(file), REVISION);
      assert.ok(result.kind === 'site');
      // The matchers are functions, which JSON leaves out: what they match is tested where they are made.
      const { caching, ...others } = result.site;
      const policies = caching.policies?.list() ?? [];
      const plainSite: unknown = JSON.parse(JSON.stringify({ ...others, caching: { ...caching, policies } }));
      assert.deepEqual(plainSite, {
        ...readGolden('plain.site.json'),
        ...readGolden(file.replace('.spec.', '.site.')),
      });
    });
  }

  test('the result of compiling cannot be changed, in depth', () => {
    const result = compileSite(plain(), REVISION);
    assert.equal(result.kind, 'site');
    if (result.kind === 'site') {
      assert.ok(Object.isFrozen(result.site) && Object.isFrozen(result.site.origins.primary[0]));
    }
  });

  const refused: readonly (readonly [what: string, spec: unknown, problem: RegExp])[] = [
    ['no object', null, /^spec: expected an object, found null/],
    ['a list', [], /^spec: /],
    ['an id of 0', plain({ id: 0 }), /^id: expected an integer from 1/],
    ['an id as text', plain({ id: '1' }), /^id: /],
    ['an id beyond 2^31-1', plain({ id: 2 ** 31 }), /^id: /],
    ['an upper-case name', plain({ name: 'A.example.com' }), /^name: /],
    ['an empty name', plain({ name: '' }), /^name: /],
    ['a name that is an address', plain({ name: '192.0.2.1' }), /^name: /],
    ['a wildcard in the middle', plain({ name: 'a.*.example.com' }), /^name: /],
    ['a bare wildcard', plain({ name: '*.' }), /^name: /],
    ['a trailing dot', plain({ name: 'example.com.' }), /^name: /],
    ['a name of 254 characters', plain({ name: `${'a.'.repeat(126)}ab` }), /^name: /],
    ['an unknown type', plain({ type: 'blog' }), /^type: expected one of static/],
    ['an unknown state', plain({ state: 'pending' }), /^state: /],
    ['no origins', plain({ origins: undefined }), /^origins: /],
    ['no primary', withOrigins({ primary: [] }), /^origins.primary: expected at least one/],
    ['51 primaries', withOrigins({ primary: Array(51).fill({ host: 'o.example' }) }), /at most 50, found 51/],
    ['an unknown protocol', withOrigins({ protocol: 'ftp' }), /^origins.protocol: /],
    ['a URL as origin', withOrigins({ primary: [{ host: 'http://o.example' }] }), /^origins.primary\[0\].host: /],
    ['an origin with a port inside', withOrigins({ primary: [{ host: 'o.example:80' }] }), /\[0\].host: /],
    ['brackets', withOrigins({ primary: [{ host: '[::1]' }] }), /\[0\].host: /],
    ['a zone', withOrigins({ primary: [{ host: 'fe80::1%eth0' }] }), /\[0\].host: /],
    ['a short address', withOrigins({ primary: [{ host: '127.1' }] }), /\[0\].host: /],
    ['a hexadecimal address', withOrigins({ primary: [{ host: '0x7f000001' }] }), /\[0\].host: /],
    ['port 0', withOrigins({ primary: [{ host: 'o.example', port: 0 }] }), /\[0\].port: /],
    ['port 65536', withOrigins({ backup: [{ host: 'o.example', port: 65_536 }] }), /^origins.backup\[0\].port: /],
    ['a Host field with a line break', withOrigins({ hostHeader: 'a\r\nX: 1' }), /^origins.hostHeader: /],
    ['a Host field with userinfo', withOrigins({ hostHeader: 'u@a.example' }), /^origins.hostHeader: /],
    ['a Host field with port 0', withOrigins({ hostHeader: 'a.example:0' }), /^origins.hostHeader: /],
    ['cache options as a list', plain({ cache: [] }), /^cache: expected an object/],
    [
      'an unknown choice for cookies',
      plain({ cache: { setCookie: 'keep' } }),
      /^cache.setCookie: expected one of bypass/,
    ],
    ['a switch as text', plain({ cache: { requestDirectives: '1' } }), /^cache.requestDirectives: .*true, false/],
    ['a switch as null', plain({ cache: { normalizeVary: null } }), /^cache.normalizeVary: /],
    [
      'a negative cap',
      plain({ cache: { heuristicCapSeconds: -1 } }),
      /^cache.heuristicCapSeconds: .*from 0 to 31536000/,
    ],
    ['a cap beyond a year', plain({ cache: { heuristicCapSeconds: 31_536_001 } }), /^cache.heuristicCapSeconds: /],
    ['a cap beyond 30 days', plain({ cache: { staleCapSeconds: 2_592_001 } }), /^cache.staleCapSeconds: .*2592000/],
    ['a probe without /', withOrigins({ probePath: 'status' }), /^origins.probePath: /],
    ['a probe for a host with a port', withOrigins({ probeHost: 'a.example:80' }), /^origins.probeHost: /],
    ['a probe with a blank', withOrigins({ probePath: '/a b' }), /^origins.probePath: /],
    ['policies that are no list', withPolicies({}), /^caching.policies: expected a list of at most 100/],
    ['101 policies', withPolicies(Array(101).fill(POLICY)), /^caching.policies: /],
    ['21 patterns', withPolicies(Array(21).fill({ ...POLICY, match: 'regex' })), /^caching.policies: .*20 patterns/],
    ['an unknown match', withPolicies([{ ...POLICY, match: 'glob' }]), /^caching.policies\[0\].match: /],
    ['priority 0', withPolicies([{ ...POLICY, priority: 0 }]), /^caching.policies\[0\].priority: /],
    ['priority 100', withPolicies([{ ...POLICY, priority: 100 }]), /^caching.policies\[0\].priority: /],
    ['a negative time', withPolicies([POLICY, { ...POLICY, lifetimeSeconds: -1 }]), /\[1\].lifetimeSeconds: /],
    ['a scheme of its own', withPolicies([{ ...POLICY, scheme: 'ftp' }]), /\[0\].scheme: /],
    ['a prefix without /', withPolicies([{ ...POLICY, content: 'a' }]), /^caching.policies: .*begin with \//],
    ['a look-ahead', withPolicies([{ ...POLICY, match: 'regex', content: '(?=a)' }]), /^caching.policies: /],
    ['caching without its switch', plain({ caching: { policies: [] } }), /^caching.followsOrigin: /],
    ['51 addresses', withAccess({ deniedAddresses: Array(51).fill('192.0.2.1') }), /^access.deniedAddresses: .*51/],
    ['no address', withAccess({ deniedAddresses: ['192.0.2'] }), /^access.deniedAddresses: /],
    ['addresses as text', withAccess({ deniedAddresses: '192.0.2.1' }), /^access.deniedAddresses: /],
    ['a User-Agent as number', withAccess({ deniedUserAgents: [1] }), /^access.deniedUserAgents\[0\]: /],
    ['a Referer rule without a mode', withAccess({ referer: { entries: [] } }), /^access.referer.mode: /],
    ['no host as Referer', withAccess({ referer: { ...REFERER, entries: ['a b'] } }), /^access.referer.entries: /],
    ['a refusal of its own kind', withAccess({ refusal: { kind: 'teapot' } }), /^access.refusal.kind: /],
    ['a page too large', withAccess({ refusal: { kind: 'page', html: 'x'.repeat(65_537) } }), /^access.refusal.html: /],
    ['a redirect to a script', withAccess({ refusal: redirectTo('javascript:0') }), /^access.refusal.url: /],
    ['limits that are no list', plain({ rateLimits: {} }), /^rateLimits: expected a list of at most 20/],
    ['21 limits', plain({ rateLimits: Array(21).fill(LIMIT) }), /^rateLimits: /],
    ['a limit of no requests', plain({ rateLimits: [{ ...LIMIT, requests: 0 }] }), /^rateLimits\[0\].requests: /],
    ['a limit of a day', plain({ rateLimits: [LIMIT, { ...LIMIT, seconds: 86_400 }] }), /^rateLimits\[1\].seconds: /],
    ['a limit without a burst', plain({ rateLimits: [{ ...LIMIT, burst: undefined }] }), /^rateLimits\[0\].burst: /],
    ['a limit of no path', plain({ rateLimits: [{ ...LIMIT, content: 'a' }] }), /^rateLimits: .*begin with \//],
    [
      'a redirect by 303',
      plain({ redirects: [{ ...REDIRECT, status: 303 }] }),
      /^redirects\[0\].status: expected one of 301/,
    ],
    [
      'a redirect to a script',
      plain({ redirects: [{ ...REDIRECT, target: 'javascript:0' }] }),
      /^redirects: the target /,
    ],
    ['a redirect to itself', plain({ redirects: [{ ...REDIRECT, target: '/old' }] }), /^redirects\[0\].target: /],
    ['a header of ours', withHeader({ name: 'Via' }), /^responseHeaders: the name is a field that the service sets/],
    ['a header with a line end', withHeader({ value: 'a\r\nb' }), /^responseHeaders: the value has characters/],
    ['a header with an odd name', withHeader({ name: 'a b' }), /^responseHeaders: the name is not a name/],
    ['a header of no kind', withHeader({ action: 'append' }), /^responseHeaders\[0\].action: /],
    ['signed URLs without a validity', plain({ signing: { paths: [] } }), /^signing.validSeconds: /],
    ['signed paths as a text', plain({ signing: { validSeconds: 0, paths: '/' } }), /^signing.paths: expected a list/],
    [
      'a signed path of no kind',
      plain({ signing: { validSeconds: 0, paths: [{ content: '/' }] } }),
      /^signing.paths\[0\].match: /,
    ],
    ['keys of lists as numbers', withAccess({ deniedLists: [1] }), /^access.deniedLists\[0\]: expected a text/],
    ['HTTPS without a certificate', plain({ tls: { forceHttps: true } }), /^tls.certificate: /],
    [
      'a certificate with a blank',
      plain({ tls: { certificate: 'a b' } }),
      /^tls.certificate: .*characters, found "a b"/,
    ],
    [
      'a second one without a key',
      plain({ tls: { certificate: 'a', secondCertificate: '' } }),
      /^tls.secondCertificate: /,
    ],
    ['HSTS beyond two years', plain({ tls: { certificate: 'a', hstsMaxAgeSeconds: 63_072_001 } }), /^tls.hstsMaxAge/],
    ['TLS 1.1', plain({ tls: { certificate: 'a', minVersion: '1.1' } }), /^tls.minVersion: expected one of 1.2, 1.3/],
    ['a redirect with a password', withAccess({ refusal: redirectTo('http://a:b@c.example') }), /refusal.url: /],
  ];
  for (const [what, spec, problem] of refused) {
    test(`${what} is refused by name`, () => {
      const result = compileSite(spec, REVISION);
      assert.equal(result.kind, 'invalid');
      if (result.kind === 'invalid') assert.match(result.problem, problem);
    });
  }

  test('the wrong value is cut short in the problem', () => {
    const result = compileSite(plain({ name: 'X'.repeat(10_000) }), REVISION);
    assert.ok(result.kind === 'invalid' && result.problem.length < 200);
  });
});

function plain(changes: object = {}): object {
  return { id: 1, name: 'example.com', type: 'static', state: 'open', origins: origins(), ...changes };
}

function withHeader(changes: object): object {
  return plain({ responseHeaders: [{ action: 'set', name: 'X-A', value: '1', ...changes }] });
}

function withOrigins(changes: object): object {
  return plain({ origins: { ...origins(), ...changes } });
}

function withPolicies(policies: unknown): object {
  return plain({ caching: { followsOrigin: true, prefixFirst: false, policies } });
}

function withAccess(access: object): object {
  return plain({ access });
}

function redirectTo(url: string): object {
  return { kind: 'redirect', url };
}

function origins(): object {
  return { protocol: 'http', primary: [{ host: 'o.example' }], backup: [], hostHeader: '', probePath: '' };
}

function readGolden(file: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(readJson(file) ?? {}));
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(GOLDEN, file), 'utf8'));
}
