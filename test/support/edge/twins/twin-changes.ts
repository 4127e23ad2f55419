/** What happens between requests, to all twins alike. */
import fc from 'fast-check';
import { SITE_SWITCHES } from '../../../../src/model/settings.ts';
import type { PurgeScope } from '../../../../src/sites/purge.ts';
import type { SiteSpec } from '../../../../src/sites/spec.ts';
import { SITE_HOST } from '../edge.ts';
import { OTHER_HOST } from './twin-requests.ts';

export const WILD_NAME = '*.wild.example.com';

export type TwinChange =
  | { readonly kind: 'put'; readonly name: string; readonly change: Partial<SiteSpec> }
  | { readonly kind: 'origins'; readonly protocol: 'http' | 'follow'; readonly hostHeader: string }
  /** A domain that is deleted, and perhaps added again, by its own account or another one. */
  | { readonly kind: 'remove'; readonly comesBackAs: 'same' | 'new' | undefined }
  | { readonly kind: 'purge'; readonly scope: PurgeScope }
  /** Addresses of the list that sites share. */
  | { readonly kind: 'list'; readonly entries: readonly string[] }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'object' }
  | { readonly kind: 'down'; readonly isDown: boolean }
  | { readonly kind: 'challenge'; readonly isThere: boolean };

/** Takes the member away. */
const UNSIGNED = { signing: undefined } as unknown as Partial<SiteSpec>;

/** Each member of a spec is among them: `test/edge/fast-lanes.test.ts` looks. */
export const CHANGES: readonly Partial<SiteSpec>[] = [
  { expiresSeconds: 600 },
  { expiresSeconds: 0 },
  ...Object.keys(SITE_SWITCHES).flatMap((name) => [{ [name]: true }, { [name]: false }]),
  { accessControlMaxAgeSeconds: 60 },
  { records: true },
  { state: 'disabled' },
  { state: 'accountLimit' },
  { state: 'closed' },
  ...Array<Partial<SiteSpec>>(6).fill({ state: 'open' }),
  { type: 'dynamic' },
  { type: 'static' },
  ...Array<Partial<SiteSpec>>(3).fill({ access: {} }),
  { access: { deniedAddresses: ['127.0.0.2', '198.51.100.0/24'] } },
  { access: { deniedAddresses: ['127.0.0.1'], refusal: { kind: 'page', html: '<p>no</p>' } } },
  { access: { deniedLists: ['1/list'] } },
  { access: { allowedLists: ['1/list'], deniedAddresses: ['198.51.100.0/24'] } },
  { access: { deniedUserAgents: ['bot', '^$'] } },
  { access: { deniedUserAgents: ['*1'], refusal: { kind: 'redirect', url: `http://${SITE_HOST}/long` } } },
  { access: { referer: { mode: 'deny', allowsBlank: true, entries: ['evil.test'] } } },
  { access: { referer: { mode: 'allow', allowsBlank: false, entries: ['www.example.com'] } } },
  { access: { referer: { mode: 'allow', allowsBlank: false, entries: ['www.example.com:80', 'caf\u00e9.test'] } } },
  { access: { referer: { mode: 'deny', allowsBlank: false, entries: ['evil.test:81', '*.example.com'] } } },
  { redirects: [] },
  { redirects: [{ match: 'prefix', content: '/d', target: '/a', status: 307, keepsQuery: true }] },
  {
    redirects: [
      { match: 'suffix', content: 'html', target: 'https://other.example.com/x?y', status: 301, keepsQuery: true },
      { match: 'regex', content: '^/l', target: '/page.html', status: 302, keepsQuery: false },
    ],
  },
  { responseHeaders: [] },
  {
    responseHeaders: [
      { action: 'set', name: 'Cache-Control', value: 'max-age=5' },
      { action: 'add', name: 'X-Tag', value: 'a' },
      { action: 'remove', name: 'Server', value: '' },
    ],
  },
  { rateLimits: [] },
  { rateLimits: [{ match: 'prefix', content: '/', requests: 600, seconds: 60, burst: 20 }] },
  {
    rateLimits: [
      { match: 'regex', content: '^/[al]', requests: 1, seconds: 2, burst: 2 },
      { match: 'suffix', content: 'html', requests: 5, seconds: 1, burst: 1 },
    ],
  },
  { signing: { validSeconds: 60, paths: [{ match: 'prefix', content: '/d' }] } },
  ...Array<Partial<SiteSpec>>(3).fill(UNSIGNED),
  { caching: { followsOrigin: true, prefixFirst: false, policies: [] } },
  { caching: { followsOrigin: false, prefixFirst: true, policies: policies(1) } },
  { caching: { followsOrigin: true, prefixFirst: false, policies: policies(600) } },
  { cache: { setCookie: 'store' } },
  { cache: { setCookie: 'strip' } },
  { cache: { requestDirectives: true } },
  { cache: { normalizeVary: false, staleCapSeconds: 0, heuristicCapSeconds: 0 } },
  { cache: {} },
  { tls: { certificate: 'c1' } },
  { tls: { certificate: 'c2', hstsMaxAgeSeconds: 60 } },
  { tls: { certificate: 'c1', forceHttps: true } },
  { tls: { certificate: 'c1', hstsMaxAgeSeconds: 3_600, minVersion: '1.3' } },
];

function policies(lifetimeSeconds: number): NonNullable<SiteSpec['caching']>['policies'] {
  return [
    { match: 'prefix', content: '/d', priority: 9, isCached: false, lifetimeSeconds: 0 },
    { match: 'suffix', content: 'html', scheme: 'https', priority: 5, isCached: true, lifetimeSeconds },
    { match: 'regex', content: '^/[al]', priority: 1, isCached: true, lifetimeSeconds },
  ];
}

const PURGES: readonly PurgeScope[] = [
  ...['/a', '/long', '/big', '/page.html', '/a?x=1'].map(
    (path) => ({ kind: 'url', target: `${SITE_HOST}${path}` }) as const,
  ),
  { kind: 'directory', target: `${SITE_HOST}/d/` },
  { kind: 'directory', target: `${SITE_HOST}/` },
  { kind: 'site', target: '' },
];

/** What is in force from the beginning. */
export const anyRules: fc.Arbitrary<TwinChange> = fc
  .constantFrom(...CHANGES.filter(({ access }) => access !== undefined))
  .map((change) => ({ kind: 'put', name: SITE_HOST, change }) as const);

export const anyChange: fc.Arbitrary<TwinChange> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(SITE_HOST, SITE_HOST, SITE_HOST, OTHER_HOST, WILD_NAME), fc.constantFrom(...CHANGES))
      .map(([name, change]) => ({ kind: 'put', name, change }) as const),
  },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(
        0,
        1,
        499,
        500,
        999,
        1_000,
        1_500,
        2_001,
        5_000,
        61_000,
        601_000,
        90_000_000,
        31 * 86_400_000,
        -300,
        -2_000,
        -2_000,
        -20_000,
      )
      .map((ms) => ({ kind: 'advance', ms }) as const),
  },
  { weight: 3, arbitrary: fc.constantFrom(...PURGES).map((scope) => ({ kind: 'purge', scope }) as const) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom([], ['127.0.0.1'], ['127.0.0.0/8', '::1'], ['127.0.0.2', '198.51.100.0/24'])
      .map((entries) => ({ kind: 'list', entries }) as const),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'object' } as const) },
  { weight: 1, arbitrary: fc.boolean().map((isDown) => ({ kind: 'down', isDown }) as const) },
  { weight: 1, arbitrary: fc.boolean().map((isThere) => ({ kind: 'challenge', isThere }) as const) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('same', 'new', undefined)
      .map((comesBackAs) => ({ kind: 'remove', comesBackAs }) as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('http', 'follow'), fc.constantFrom('', 'origin.test'))
      .map(([protocol, hostHeader]) => ({ kind: 'origins', protocol, hostHeader }) as const),
  },
);
