/** Counters of a domain's requests, the same on the edge, on the wire and in the database. Pure. */
import type { AccessRecord, CacheCode } from './line.ts';

/** Whole numbers from 0. Requests of other status classes (1xx) are in `requests` only. */
export interface Counters {
  requests: number;
  /** Bytes read from clients, head and body. */
  bytesIn: number;
  /** Bytes actually sent to clients, head and body. */
  bytesOut: number;
  /** Bytes of bodies that origins sent. */
  bytesOrigin: number;
  /** Requests answered from the cache. */
  hits: number;
  /** Bytes sent to clients for hits. */
  hitBytes: number;
  status2xx: number;
  status3xx: number;
  status4xx: number;
  status5xx: number;
}

/** Counters of one domain (0: requests without a domain) in one minute since the epoch. */
export interface MinuteCounters extends Counters {
  readonly domainId: number;
  readonly minute: number;
}

export const COUNTERS: readonly (keyof Counters)[] = [
  'requests',
  'bytesIn',
  'bytesOut',
  'bytesOrigin',
  'hits',
  'hitBytes',
  'status2xx',
  'status3xx',
  'status4xx',
  'status5xx',
];

export function noCounters(): Counters {
  return {
    requests: 0,
    bytesIn: 0,
    bytesOut: 0,
    bytesOrigin: 0,
    hits: 0,
    hitBytes: 0,
    status2xx: 0,
    status3xx: 0,
    status4xx: 0,
    status5xx: 0,
  };
}

export type CountedRequest = Pick<
  AccessRecord,
  'requestBytes' | 'responseBytes' | 'cacheCode' | 'status' | 'isContinued'
>;

/** Counts `times` requests of one kind; the bytes are those of all of them. */
export function countRequest(counters: Counters, request: CountedRequest, times = 1): void {
  counters.bytesIn += request.requestBytes;
  counters.bytesOut += request.responseBytes;
  if (isHit(request.cacheCode)) counters.hitBytes += request.responseBytes;
  if (request.isContinued === true) return;
  counters.requests += times;
  if (isHit(request.cacheCode)) counters.hits += times;
  const { status } = request;
  if (status >= 500) counters.status5xx += times;
  else if (status >= 400) counters.status4xx += times;
  else if (status >= 300) counters.status3xx += times;
  else if (status >= 200) counters.status2xx += times;
}

/**
 * Adds member by member: a loop over the names takes five times as long, and with many domains there is a sum per
 * request.
 */
export function addCounters(to: Counters, more: Readonly<Counters>): void {
  to.requests += more.requests;
  to.bytesIn += more.bytesIn;
  to.bytesOut += more.bytesOut;
  to.bytesOrigin += more.bytesOrigin;
  to.hits += more.hits;
  to.hitBytes += more.hitBytes;
  to.status2xx += more.status2xx;
  to.status3xx += more.status3xx;
  to.status4xx += more.status4xx;
  to.status5xx += more.status5xx;
}

/** Whether the body came from the cache, validated or not. */
function isHit(code: CacheCode): boolean {
  switch (code) {
    case 'TCP_HIT':
    case 'TCP_MEM_HIT':
    case 'TCP_IMS_HIT':
    case 'TCP_NEGATIVE_HIT':
    case 'TCP_STALE_HIT':
    case 'TCP_REFRESH_HIT':
      return true;
    case 'TCP_MISS':
    case 'TCP_REFRESH_MISS':
    case 'TCP_DENIED':
    case 'NONE':
      return false;
  }
}
