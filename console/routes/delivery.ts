/** Addresses of certificates, purges, logs and address lists. */
import { EDIT_ADDRESS_LIST_PATH, PATHS } from '../routes.ts';
import { digitsOf, oneOf, readPage, withQuery, writePage } from './query.ts';
import { readSpan, type SpanQuery } from './statistics.ts';

export interface CertificatesQuery {
  readonly page: number;
  /** The certificate that is looked at; empty: none. */
  readonly ssl_key: string;
}

export function certificatesPath({ page, ssl_key }: Partial<CertificatesQuery> = {}): string {
  return withQuery(PATHS.certificates, { page: writePage(page), ssl_key });
}

export function readCertificatesQuery(search: string): CertificatesQuery {
  const query = new URLSearchParams(search);
  return { page: readPage(query), ssl_key: query.get('ssl_key') ?? '' };
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

/** Address of the form of a list; without a name, of a new one. */
export function editAddressListPath(name = ''): string {
  return withQuery(EDIT_ADDRESS_LIST_PATH, { name });
}

export function readAddressListName(search: string): string {
  return new URLSearchParams(search).get('name') ?? '';
}
