/** Addresses of domains. */
import { CHANGE_DOMAINS_PATH, PATHS } from '../routes.ts';
import { digitsOf, oneOf, withQuery } from './query.ts';

/** Tabs of a domain's settings. */
const SETTINGS_TABS = ['origin', 'cache', 'access', 'https', 'advanced'] as const;
export type SettingsTabName = (typeof SETTINGS_TABS)[number];

export const DOMAIN_TABS = ['overview', ...SETTINGS_TABS, 'dns', 'explain', 'revisions', 'propagation'] as const;
export type DomainTab = (typeof DOMAIN_TABS)[number];

/** Codes of `domain_status` and of `cdn_type`; empty: all. */
export const DOMAIN_STATUSES = ['', '0', '1', '2', '5', '6'] as const;
export const DOMAIN_TYPES = ['', '1', '2', '3', '4', '6'] as const;
export const DOMAIN_SORTS = ['created', 'name', 'traffic'] as const;

/** What a list of domains is narrowed to, as its address says it. */
export interface DomainsQuery {
  readonly name: string;
  readonly status: (typeof DOMAIN_STATUSES)[number];
  readonly type: (typeof DOMAIN_TYPES)[number];
  readonly sort: (typeof DOMAIN_SORTS)[number];
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

/** Domains of one change: as many as the service changes by one call. */
export const MAX_CHANGED_DOMAINS = 100;

export function changeDomainsPath(ids: readonly string[]): string {
  return withQuery(CHANGE_DOMAINS_PATH, { ids: ids.join('.') });
}

/** Ids of the domains, each once; the first of too many. */
export function readChangedDomains(search: string): readonly string[] {
  const given = (new URLSearchParams(search).get('ids') ?? '').split('.').map(digitsOf);
  return [...new Set(given)].filter((id) => id !== '').slice(0, MAX_CHANGED_DOMAINS);
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
