/** Addresses of address lists, and of what live streams have left: see `routes.ts`. */
import { digitsOf, oneOf, type StreamPlace, streamPath, withQuery } from '../routes.ts';

export const EDIT_ADDRESS_LIST_PATH = '/address-lists/edit';

/** Address of the form of a list; without a name, of a new one. */
export function editAddressListPath(name = ''): string {
  return withQuery(EDIT_ADDRESS_LIST_PATH, { name });
}

export function readAddressListName(search: string): string {
  return new URLSearchParams(search).get('name') ?? '';
}

export const BROADCASTS_PATH = '/streams/broadcasts';
export const RECORDINGS_PATH = '/streams/recordings';

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
  return { domain: query.get('domain') ?? '', page: Number(digitsOf(query.get('page'))) || 1 };
}

/** Address of a stream whose viewers are shown for a time. */
export function streamViewersPath(place: StreamPlace, range: ViewerRange): string {
  return withQuery(streamPath(place), { range: range === '1h' ? '' : range });
}

export function readViewersQuery(search: string): { readonly range: ViewerRange } {
  return { range: oneOf(VIEWER_RANGES, new URLSearchParams(search).get('range')) };
}

/** The first page is not said. */
function writePage(page = 1): string {
  return page === 1 ? '' : String(page);
}
