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
  addressLists: '/address-lists',
  messages: '/messages',
  replies: '/replies',
  services: '/services',
  members: '/members',
  tokens: '/tokens',
  events: '/events',
  audit: '/audit',
  security: '/security',
  accounts: '/operator/accounts',
  review: '/operator/review',
  edges: '/operator/edges',
  connectors: '/operator/connectors',
  health: '/operator/health',
  allStreams: '/operator/streams',
} as const;

export type MenuPage = keyof typeof PATHS;

/** The page of a link that is good once, whose secret stands behind `#`. */
export const WELCOME_PATH = '/welcome';
/** Where an identity provider sends the browser back to; the service names it there. */
export const PROVIDER_PATH = '/provider';
export const SECURITY_PATTERN = '/security/:tab?';
export const SECURITY_TABS = ['security', 'sessions'] as const;
export type SecurityTab = (typeof SECURITY_TABS)[number];

export function securityPath(tab: SecurityTab): string {
  return tab === 'security' ? PATHS.security : `${PATHS.security}/${tab}`;
}

export function readSecurityTab(tab: string | undefined): SecurityTab {
  return oneOf(SECURITY_TABS, tab ?? null);
}

export const ADD_DOMAIN_PATH = '/domains/add';
export const DOMAIN_PATTERN = '/domains/:id/:tab?';

/** Tabs of a domain's settings. */
const SETTINGS_TABS = ['origin', 'cache', 'access', 'https', 'advanced'] as const;
export type SettingsTabName = (typeof SETTINGS_TABS)[number];

export const DOMAIN_TABS = ['overview', ...SETTINGS_TABS, 'dns', 'explain', 'revisions', 'propagation'] as const;
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

export const CHANGE_DOMAINS_PATH = '/domains/change';

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

export function overviewPath({ range }: RangeQuery): string {
  return withQuery(PATHS.overview, { range: range === '24h' ? '' : range });
}

export function readRangeQuery(search: string): RangeQuery {
  const given = new URLSearchParams(search).get('range');
  return { range: RANGES.find((known) => known === given) ?? '24h' };
}

export const STATISTICS_RANGES = [...RANGES, '90d', '1y'] as const;
export const METRICS = ['requests', 'traffic', 'bandwidth', 'hit_ratio'] as const;
export const COMPARISONS = ['', 'before', 'week'] as const;
export const MAX_COMPARED_DOMAINS = 20;

/** Unix seconds. */
export interface SpanQuery {
  readonly from: number;
  readonly to: number;
}

export interface StatisticsQuery {
  /** Ids, at most `MAX_COMPARED_DOMAINS`; none: all. */
  readonly domains: readonly string[];
  /** Whether each of the domains is shown by itself. */
  readonly isSplit: boolean;
  readonly metric: (typeof METRICS)[number];
  readonly range: (typeof STATISTICS_RANGES)[number] | SpanQuery;
  readonly compare: (typeof COMPARISONS)[number];
}

const MAX_SPAN_SECONDS = 366 * 86_400;

export function statisticsPath({ domains, isSplit, metric, range, compare }: StatisticsQuery): string {
  const when =
    typeof range === 'string'
      ? { range: range === '24h' ? '' : range }
      : { from: String(range.from), to: String(range.to) };
  return withQuery(PATHS.statistics, {
    domains: domains.join(','),
    split: isSplit ? '1' : '',
    metric: metric === 'requests' ? '' : metric,
    ...when,
    compare,
  });
}

/** A range that cannot be asked for is the last day. */
export function readStatisticsQuery(search: string): StatisticsQuery {
  const query = new URLSearchParams(search);
  const given = query.get('range');
  return {
    domains: idsOf(query.get('domains')),
    isSplit: query.get('split') === '1',
    metric: oneOf(METRICS, query.get('metric')),
    range: readSpan(query) ?? STATISTICS_RANGES.find((known) => known === given) ?? '24h',
    compare: oneOf(COMPARISONS, query.get('compare')),
  };
}

function idsOf(given: string | null): readonly string[] {
  const ids = (given ?? '').split(',').map(digitsOf);
  return [...new Set(ids.filter((id) => id !== ''))].slice(0, MAX_COMPARED_DOMAINS);
}

/** Whether the service gives statistics of such a span: it is not empty, and at most 366 days. */
export function isSpan({ from, to }: SpanQuery): boolean {
  return from > 0 && from < to && to - from <= MAX_SPAN_SECONDS;
}

function readSpan(query: URLSearchParams): SpanQuery | undefined {
  const { from = null, to = null } = Object.fromEntries(query);
  const span = { from: Number(digitsOf(from)), to: Number(digitsOf(to)) };
  return isSpan(span) ? span : undefined;
}

export const ADD_CERTIFICATE_PATH = '/certificates/add';

export interface CertificatesQuery {
  readonly page: number;
  /** The certificate that is looked at; empty: none. */
  readonly ssl_key: string;
}

export function certificatesPath({ page, ssl_key }: Partial<CertificatesQuery> = {}): string {
  return withQuery(PATHS.certificates, { page: page === undefined || page === 1 ? '' : String(page), ssl_key });
}

export function readCertificatesQuery(search: string): CertificatesQuery {
  const query = new URLSearchParams(search);
  return { page: Number(digitsOf(query.get('page'))) || 1, ssl_key: query.get('ssl_key') ?? '' };
}

export const ACTS = ['purge', 'prefetch'] as const;

export interface PurgeQuery {
  readonly act: (typeof ACTS)[number];
  /** The task that is looked at; empty: none. */
  readonly task: string;
}

export function purgePath({ act, task }: Partial<PurgeQuery> = {}): string {
  return withQuery(PATHS.purge, { act: act === 'purge' ? '' : act, task });
}

export function readPurgeQuery(search: string): PurgeQuery {
  const query = new URLSearchParams(search);
  return { act: oneOf(ACTS, query.get('act')), task: digitsOf(query.get('task')) };
}

export const LOG_VIEWS = ['files', 'search', 'tail'] as const;

export interface LogsQuery {
  readonly view: (typeof LOG_VIEWS)[number];
  /** Name of the domain; empty: none yet. */
  readonly domain: string;
  /** What is searched for; absent: nothing yet. */
  readonly search?: LogSearchQuery | undefined;
}

export interface LogSearchQuery extends SpanQuery {
  /** Terms of `log.search`; empty: all lines. */
  readonly filter: string;
}

export function logsPath({ view, domain, search }: Partial<LogsQuery> = {}): string {
  return withQuery(PATHS.logs, {
    view: view === 'files' ? '' : view,
    domain,
    ...(search && { filter: search.filter, from: String(search.from), to: String(search.to) }),
  });
}

export function readLogsQuery(search: string): LogsQuery {
  const query = new URLSearchParams(search);
  const span = readSpan(query);
  return {
    view: oneOf(LOG_VIEWS, query.get('view')),
    domain: query.get('domain') ?? '',
    ...(span && { search: { filter: query.get('filter') ?? '', ...span } }),
  };
}

export interface AuditQuery {
  readonly operation: string;
  readonly target_kind: string;
  readonly target_id: string;
  /** The event that is looked at; empty: none. */
  readonly event: string;
}

export function auditPath(query: Partial<AuditQuery> = {}): string {
  return withQuery(PATHS.audit, { ...query });
}

export function readAuditQuery(search: string): AuditQuery {
  const query = new URLSearchParams(search);
  return {
    operation: query.get('operation') ?? '',
    target_kind: query.get('target_kind') ?? '',
    target_id: query.get('target_id') ?? '',
    event: digitsOf(query.get('event')),
  };
}

export const STREAM_PATTERN = '/streams/:domain/:app/:stream';
export const STREAM_STATES = ['', 'ONGOING', 'PAUSED', 'READY'] as const;

/** A live stream by its names. */
export interface StreamPlace {
  readonly domain: string;
  readonly app: string;
  readonly stream: string;
}

export interface StreamsQuery {
  /** Name of the domain; empty: all. */
  readonly domain: string;
  readonly status: (typeof STREAM_STATES)[number];
  readonly page: number;
}

/** Streams of all accounts. */
export interface AllStreamsQuery extends Omit<StreamsQuery, 'domain'> {
  /** The stream that is looked at: id of its domain, and names; empty: none. */
  readonly open: string;
}

export function streamPath({ domain, app, stream }: StreamPlace): string {
  return `${PATHS.streams}/${[domain, app, stream].map(encodeURIComponent).join('/')}`;
}

export function streamsPath({ domain, status, page }: Partial<StreamsQuery> = {}): string {
  return withQuery(PATHS.streams, { domain, status, page: pageText(page) });
}

export function readStreamsQuery(search: string): StreamsQuery {
  const query = new URLSearchParams(search);
  return { domain: query.get('domain') ?? '', status: oneOf(STREAM_STATES, query.get('status')), page: pageOf(query) };
}

export function allStreamsPath({ status, page, open }: Partial<AllStreamsQuery> = {}): string {
  return withQuery(PATHS.allStreams, { status, page: pageText(page), open });
}

export function readAllStreamsQuery(search: string): AllStreamsQuery {
  const query = new URLSearchParams(search);
  return { open: query.get('open') ?? '', status: oneOf(STREAM_STATES, query.get('status')), page: pageOf(query) };
}

/** An address of control as the console reaches it: the policy lets no page read from another origin. */
export function sameOrigin(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** The first page is not said. */
function pageText(page = 1): string {
  return page === 1 ? '' : String(page);
}

function pageOf(query: URLSearchParams): number {
  return Number(digitsOf(query.get('page'))) || 1;
}

/** Empty values are left out. */
export function withQuery(path: string, values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** The first of `known` unless another one is given. */
export function oneOf<const V extends string>(known: readonly [V, ...V[]], given: string | null): V {
  return known.find((value) => value === given) ?? known[0];
}

export function digitsOf(given: string | null): string {
  return /^\d{1,15}$/.test(given ?? '') ? (given ?? '') : '';
}
