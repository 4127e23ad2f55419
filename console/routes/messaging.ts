/** Addresses of messages, replies and services. */
import { BALANCE_PATH, MESSAGE_COUNTS_PATH, OPT_OUTS_PATH, PATHS, SEND_PATH } from '../routes.ts';
import { digitsOf, oneOf, withQuery } from './query.ts';

/** Address of the form, perhaps with a number in it. */
export function sendPath({ number = '' }: { readonly number?: string } = {}): string {
  return withQuery(SEND_PATH, { number });
}

export function readSendQuery(search: string): { readonly number: string } {
  return { number: new URLSearchParams(search).get('number') ?? '' };
}

/** Groups of states; empty: all. */
export const MESSAGE_STATUSES = ['', 'waiting', 'sent', 'delivered', 'trouble'] as const;
export const MESSAGE_PERIODS = ['all', '1d', '7d', '30d'] as const;

/** What the list of messages is narrowed to. */
export interface MessagesQuery {
  /** The text of the field. */
  readonly number: string;
  readonly status: (typeof MESSAGE_STATUSES)[number];
  /** Key of a service; empty: all. */
  readonly app: string;
  readonly period: (typeof MESSAGE_PERIODS)[number];
}

export function messagesPath({ number, status, app, period }: Partial<MessagesQuery> = {}): string {
  return withQuery(PATHS.messages, { number, status, app, period: period === 'all' ? '' : period });
}

export function readMessagesQuery(search: string): MessagesQuery {
  const query = new URLSearchParams(search);
  return {
    number: query.get('number') ?? '',
    status: oneOf(MESSAGE_STATUSES, query.get('status')),
    app: query.get('app') ?? '',
    period: oneOf(MESSAGE_PERIODS, query.get('period')),
  };
}

/** The router reads addresses by `decodeURI`, which leaves the `+` of a number as it is. */
export function messagePath(sendid: string, number: string): string {
  return `/messages/${encodeURI(sendid)}/${encodeURI(number)}`;
}

export interface RepliesQuery {
  /** The text of the field. */
  readonly number: string;
  /** Key of a service; empty: all. */
  readonly app: string;
}

export function repliesPath({ number, app }: Partial<RepliesQuery> = {}): string {
  return withQuery(PATHS.replies, { number, app });
}

export function readRepliesQuery(search: string): RepliesQuery {
  const query = new URLSearchParams(search);
  return { number: query.get('number') ?? '', app: query.get('app') ?? '' };
}

export function optOutsPath({ number = '' }: { readonly number?: string } = {}): string {
  return withQuery(OPT_OUTS_PATH, { number });
}

/** Beginning of the numbers that are looked for. */
export function readOptOutsQuery(search: string): { readonly number: string } {
  return { number: new URLSearchParams(search).get('number') ?? '' };
}

export const SERVICE_TABS = ['settings', 'webhook'] as const;
export type ServiceTab = (typeof SERVICE_TABS)[number];

export function servicePath(key: string, tab: ServiceTab = 'settings'): string {
  return `${PATHS.services}/${encodeURIComponent(key)}${tab === 'settings' ? '' : `/${tab}`}`;
}

/** An unknown tab is the first. */
export function readServiceTab(tab: string | undefined): ServiceTab {
  return oneOf(SERVICE_TABS, tab ?? null);
}

export const COUNT_PERIODS = ['7d', '30d', '90d'] as const;

export interface MessageCountsQuery {
  readonly period: (typeof COUNT_PERIODS)[number];
  /** Key of a service; empty: all. */
  readonly app: string;
}

export function messageCountsPath({ period, app }: Partial<MessageCountsQuery> = {}): string {
  return withQuery(MESSAGE_COUNTS_PATH, { period: period === '7d' ? '' : period, app });
}

export function readMessageCountsQuery(search: string): MessageCountsQuery {
  const query = new URLSearchParams(search);
  return { period: oneOf(COUNT_PERIODS, query.get('period')), app: query.get('app') ?? '' };
}

/** `before`: id of the entry of the ledger before which the page begins; empty: the latest. */
export function balancePath({ before = '' }: { readonly before?: string } = {}): string {
  return withQuery(BALANCE_PATH, { before });
}

export function readBalanceQuery(search: string): { readonly before: string } {
  return { before: digitsOf(new URLSearchParams(search).get('before')) };
}
