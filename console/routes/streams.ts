/** Addresses of live streams. */
import { BROADCASTS_PATH, PATHS, RECORDINGS_PATH } from '../routes.ts';
import { oneOf, readPage, withQuery, writePage } from './query.ts';

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
  return withQuery(PATHS.streams, { domain, status, page: writePage(page) });
}

export function readStreamsQuery(search: string): StreamsQuery {
  const query = new URLSearchParams(search);
  return {
    domain: query.get('domain') ?? '',
    status: oneOf(STREAM_STATES, query.get('status')),
    page: readPage(query),
  };
}

export function allStreamsPath({ status, page, open }: Partial<AllStreamsQuery> = {}): string {
  return withQuery(PATHS.allStreams, { status, page: writePage(page), open });
}

export function readAllStreamsQuery(search: string): AllStreamsQuery {
  const query = new URLSearchParams(search);
  return { open: query.get('open') ?? '', status: oneOf(STREAM_STATES, query.get('status')), page: readPage(query) };
}

/** The page of a live domain's keys and broadcasts, for operators. */
export function liveDomainPath(domain: string, page = 1): string {
  return withQuery(`${PATHS.allStreams}/${encodeURIComponent(domain)}`, { page: writePage(page) });
}

/** What viewers are shown for. */
export const VIEWER_RANGES = ['1h', '24h', '30d'] as const;
export type ViewerRange = (typeof VIEWER_RANGES)[number];

interface RecordingsQuery {
  /** Name of the domain; empty: the first one. */
  readonly domain: string;
  readonly page: number;
}

export interface BroadcastsQuery extends RecordingsQuery {
  readonly range: ViewerRange;
}

export function broadcastsPath({ domain, range, page }: Partial<BroadcastsQuery> = {}): string {
  return withQuery(BROADCASTS_PATH, { domain, range: range === '1h' ? '' : range, page: writePage(page) });
}

export function readBroadcastsQuery(search: string): BroadcastsQuery {
  return { ...readRecordingsQuery(search), ...readViewersQuery(search) };
}

export function recordingsPath({ domain, page }: Partial<RecordingsQuery> = {}): string {
  return withQuery(RECORDINGS_PATH, { domain, page: writePage(page) });
}

export function readRecordingsQuery(search: string): RecordingsQuery {
  const query = new URLSearchParams(search);
  return { domain: query.get('domain') ?? '', page: readPage(query) };
}

/** Address of a stream whose viewers are shown for a time. */
export function streamViewersPath(place: StreamPlace, range: ViewerRange): string {
  return withQuery(streamPath(place), { range: range === '1h' ? '' : range });
}

export function readViewersQuery(search: string): { readonly range: ViewerRange } {
  return { range: oneOf(VIEWER_RANGES, new URLSearchParams(search).get('range')) };
}

/** An address of control as the console reaches it: the policy lets no page read from another origin. */
export function sameOrigin(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
