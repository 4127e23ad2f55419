/** Addresses of the operator's pages. */
import type { DataOf } from '#contract/operations.ts';
import { EDIT_CONNECTOR_PATH, PATHS } from '../routes.ts';
import { DOMAIN_STATUSES, type DomainsQuery } from './domains.ts';
import { oneOf, readPage, withQuery, writePage } from './query.ts';

export const ACCOUNT_TABS = ['overview', 'domains', 'tokens', 'money'] as const;
export type AccountTab = (typeof ACCOUNT_TABS)[number];

interface PageQuery {
  readonly page: number;
}

export interface AccountsQuery extends PageQuery {
  /** Part of the name; empty: any. */
  readonly name: string;
}

export function accountsPath({ name, page }: Partial<AccountsQuery> = {}): string {
  return withQuery(PATHS.accounts, { name, page: writePage(page) });
}

export function readAccountsQuery(search: string): AccountsQuery {
  const query = new URLSearchParams(search);
  return { name: query.get('name') ?? '', page: readPage(query) };
}

export function accountPath(id: string, tab: AccountTab = 'overview', page = 1): string {
  const path = `${PATHS.accounts}/${encodeURIComponent(id)}${tab === 'overview' ? '' : `/${tab}`}`;
  return withQuery(path, { page: writePage(page) });
}

/** An unknown tab is the first. */
export function readAccountTab(tab: string | undefined): AccountTab {
  return oneOf(ACCOUNT_TABS, tab ?? null);
}

/** The page of a list that has no other filter. */
export function readPageQuery(search: string): PageQuery {
  return { page: readPage(new URLSearchParams(search)) };
}

export interface AllDomainsQuery extends PageQuery, Pick<DomainsQuery, 'name' | 'status'> {}

export function allDomainsPath({ name, status, page }: Partial<AllDomainsQuery> = {}): string {
  return withQuery(PATHS.allDomains, { name, status, page: writePage(page) });
}

export function readAllDomainsQuery(search: string): AllDomainsQuery {
  const query = new URLSearchParams(search);
  const status = oneOf(DOMAIN_STATUSES, query.get('status'));
  return { name: query.get('name') ?? '', status, page: readPage(query) };
}

export interface PeopleQuery extends PageQuery {
  /** Part of a name or an address; empty: any. */
  readonly text: string;
}

export function peoplePath({ text, page }: Partial<PeopleQuery> = {}): string {
  return withQuery(PATHS.people, { text, page: writePage(page) });
}

export function readPeopleQuery(search: string): PeopleQuery {
  const query = new URLSearchParams(search);
  return { text: query.get('text') ?? '', page: readPage(query) };
}

export function reviewPath(page = 1): string {
  return withQuery(PATHS.review, { page: writePage(page) });
}

export const EDGE_VIEWS = ['edges', 'groups', 'tokens', 'events', 'sinks'] as const;

type EdgeStatus = DataOf<'edgeOperator.list'>['list'][number]['status'];

/** Empty: all. */
export const EDGE_STATUSES = [
  '',
  ...(['ready', 'syncing', 'unhealthy', 'draining', 'drained', 'away'] as const),
  ...(['enrolled', 'suspect', 'revoked', 'removed'] as const),
] as const satisfies readonly (EdgeStatus | '')[];

export interface EdgesQuery extends PageQuery {
  readonly view: (typeof EDGE_VIEWS)[number];
  /** Empty: all. */
  readonly group: string;
  readonly status: (typeof EDGE_STATUSES)[number];
}

export function edgesPath({ view, group, status, page }: Partial<EdgesQuery> = {}): string {
  return withQuery(PATHS.edges, { view: view === 'edges' ? '' : view, group, status, page: writePage(page) });
}

export function readEdgesQuery(search: string): EdgesQuery {
  const query = new URLSearchParams(search);
  return {
    view: oneOf(EDGE_VIEWS, query.get('view')),
    group: query.get('group') ?? '',
    status: oneOf(EDGE_STATUSES, query.get('status')),
    page: readPage(query),
  };
}

export function edgePath(id: string, page = 1): string {
  return withQuery(`${PATHS.edges}/${encodeURIComponent(id)}`, { page: writePage(page) });
}

export const CONNECTOR_VIEWS = ['connectors', 'routes', 'prices', 'services', 'optOuts', 'unread'] as const;

/** `page`: of the services. */
export interface ConnectorsQuery extends PageQuery {
  readonly view: (typeof CONNECTOR_VIEWS)[number];
}

export function connectorsPath({ view, page }: Partial<ConnectorsQuery> = {}): string {
  return withQuery(PATHS.connectors, { view: view === 'connectors' ? '' : view, page: writePage(page) });
}

export function readConnectorsQuery(search: string): ConnectorsQuery {
  const query = new URLSearchParams(search);
  return { view: oneOf(CONNECTOR_VIEWS, query.get('view')), page: readPage(query) };
}

/** Address of the form of a connector; without a name, of a new one. Names are any text, so they are in the query. */
export function editConnectorPath(name = ''): string {
  return withQuery(EDIT_CONNECTOR_PATH, { name });
}

export function readConnectorName(search: string): string {
  return new URLSearchParams(search).get('name') ?? '';
}

export const HEALTH_VIEWS = ['health', 'settings', 'events'] as const;
/** Empty: all. */
export const SEVERITIES = ['', 'info', 'warning', 'critical'] as const;

export interface HealthQuery extends PageQuery {
  readonly view: (typeof HEALTH_VIEWS)[number];
  readonly severity: (typeof SEVERITIES)[number];
}

export function healthPath({ view, severity, page }: Partial<HealthQuery> = {}): string {
  return withQuery(PATHS.health, { view: view === 'health' ? '' : view, severity, page: writePage(page) });
}

export function readHealthQuery(search: string): HealthQuery {
  const query = new URLSearchParams(search);
  return {
    view: oneOf(HEALTH_VIEWS, query.get('view')),
    severity: oneOf(SEVERITIES, query.get('severity')),
    page: readPage(query),
  };
}
