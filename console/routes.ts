/** Every address of the console, below `/console`: built and parsed here alone, so that no page writes one by hand. */

/** Pages of the menu. */
export const PATHS = {
  overview: '/',
  domains: '/domains',
  purge: '/purge',
  certificates: '/certificates',
  statistics: '/statistics',
  logs: '/logs',
  streams: '/streams',
  messages: '/messages',
  replies: '/replies',
  services: '/services',
  members: '/members',
  tokens: '/tokens',
  audit: '/audit',
  security: '/security',
  accounts: '/operator/accounts',
  review: '/operator/review',
  edges: '/operator/edges',
  connectors: '/operator/connectors',
  health: '/operator/health',
} as const;

export type MenuPage = keyof typeof PATHS;

export const ADD_DOMAIN_PATH = '/domains/add';
export const DOMAIN_PATTERN = '/domains/:id/:tab?';

/** Tabs of a domain's settings. */
const SETTINGS_TABS = ['origin', 'cache', 'access', 'https', 'advanced'] as const;
export type SettingsTabName = (typeof SETTINGS_TABS)[number];

export const DOMAIN_TABS = ['overview', ...SETTINGS_TABS, 'explain', 'revisions', 'propagation'] as const;
export type DomainTab = (typeof DOMAIN_TABS)[number];

/** Codes of `domain_status` and of `cdn_type`; empty: all. */
export const DOMAIN_STATUSES = ['', '0', '1', '2', '5', '6'] as const;
export const DOMAIN_TYPES = ['', '1', '2', '3', '4', '6'] as const;
export const DOMAIN_SORTS = ['created', 'name', 'traffic'] as const;
export const RANGES = ['1h', '6h', '24h', '3d', '7d', '30d'] as const;

/** What a list of domains is narrowed to, as its address says it. */
export interface DomainsQuery {
  readonly name: string;
  readonly status: (typeof DOMAIN_STATUSES)[number];
  readonly type: (typeof DOMAIN_TYPES)[number];
  readonly sort: (typeof DOMAIN_SORTS)[number];
}

export interface RangeQuery {
  readonly range: (typeof RANGES)[number];
}

export function domainsPath(query: Partial<DomainsQuery> = {}): string {
  return withQuery(PATHS.domains, { ...query, sort: query.sort === 'created' ? '' : query.sort });
}

export function readDomainsQuery(search: string): DomainsQuery {
  const query = new URLSearchParams(search);
  return {
    name: query.get('name') ?? '',
    status: oneOf(DOMAIN_STATUSES, query.get('status')),
    type: oneOf(DOMAIN_TYPES, query.get('type')),
    sort: oneOf(DOMAIN_SORTS, query.get('sort')),
  };
}

export function domainPath(id: string, tab: DomainTab = 'overview'): string {
  return `/domains/${encodeURIComponent(id)}${tab === 'overview' ? '' : `/${tab}`}`;
}

/** An unknown tab is the first. */
export function readDomainTab(tab: string | undefined): DomainTab {
  return oneOf(DOMAIN_TABS, tab ?? null);
}

/** Address of the explanation of a URL. */
export function explainPath(id: string, url: string): string {
  return withQuery(domainPath(id, 'explain'), { url });
}

export function readExplainQuery(search: string): { readonly url: string } {
  return { url: new URLSearchParams(search).get('url') ?? '' };
}

/** Two revisions; `newer` is empty for that of now. */
export function comparePath(id: string, older: string, newer = ''): string {
  return withQuery(domainPath(id, 'revisions'), { older, newer });
}

export function readCompareQuery(search: string): { readonly older: string; readonly newer: string } {
  const query = new URLSearchParams(search);
  return { older: digitsOf(query.get('older')), newer: digitsOf(query.get('newer')) };
}

export function overviewPath({ range }: RangeQuery): string {
  return withQuery(PATHS.overview, { range: range === '24h' ? '' : range });
}

export function readRangeQuery(search: string): RangeQuery {
  const given = new URLSearchParams(search).get('range');
  return { range: RANGES.find((known) => known === given) ?? '24h' };
}

/** Empty values are left out. */
function withQuery(path: string, values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** The first of `known` unless another one is given. */
function oneOf<const V extends string>(known: readonly [V, ...V[]], given: string | null): V {
  return known.find((value) => value === given) ?? known[0];
}

function digitsOf(given: string | null): string {
  return /^\d{1,15}$/.test(given ?? '') ? (given ?? '') : '';
}
