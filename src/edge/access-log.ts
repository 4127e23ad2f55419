/** Stage 11: exactly one line per request, however it ended; and its count in the metrics. */
import { firstValue } from '#http/headers.ts';
import type { CacheMark } from './reasons.ts';
import type { EdgeAnswer } from './respond/answer.ts';
import type { Viewer } from './viewer.ts';

/** One finished request. */
export interface VisitEntry {
  /** 0 when no site has the host. */
  readonly siteId: number;
  readonly clientAddress: string;
  readonly endedAt: number;
  readonly durationMs: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly host: string;
  readonly method: string;
  readonly target: string;
  readonly protocol: string;
  /** Squid's words, which the log's format is made of. Edge rules, 'Access log' */
  readonly cacheCode: string;
  readonly status: number;
  readonly contentType: string;
  readonly referer: string;
  readonly userAgent: string;
}

/** Never blocks and never throws: a full log loses lines and counts them. */
export interface VisitLog {
  write(entry: VisitEntry): void;
}

/** What the client left before its answer was out is written as. */
export const CLIENT_LEFT = 499;

export function describeVisit(
  viewer: Viewer,
  answer: EdgeAnswer | undefined,
  startedAt: number,
  endedAt: number,
): VisitEntry {
  const { received, site } = viewer;
  const status = viewer.isFinished ? viewer.statusSent : CLIENT_LEFT;
  return {
    siteId: site?.siteId ?? 0,
    clientAddress: received.clientAddress,
    endedAt,
    durationMs: Math.max(0, endedAt - startedAt),
    receivedBytes: viewer.receivedBytes,
    sentBytes: viewer.sentBytes,
    host: site?.host ?? (firstValue(received.headers, 'host') ?? '').toLowerCase().replace(/:\d*$/, ''),
    method: received.method,
    target: received.target,
    protocol: `HTTP/${received.httpVersion}`,
    cacheCode: cacheCode(answer?.mark, viewer.statusSent),
    status,
    contentType: answer === undefined ? '' : (firstValue(answer.headers, 'content-type') ?? ''),
    referer: firstValue(received.headers, 'referer') ?? '',
    userAgent: firstValue(received.headers, 'user-agent') ?? '',
  };
}

/** A request that did not get as far as being one. */
export function describeProblem(clientAddress: string, status: number, sentBytes: number, endedAt: number): VisitEntry {
  return {
    siteId: 0,
    clientAddress,
    endedAt,
    durationMs: 0,
    receivedBytes: 0,
    sentBytes,
    host: '',
    method: '',
    target: '',
    protocol: '',
    cacheCode: 'NONE',
    status,
    contentType: '',
    referer: '',
    userAgent: '',
  };
}

function cacheCode(mark: CacheMark | undefined, status: number): string {
  switch (mark?.status) {
    case undefined:
    case 'ERROR':
      return 'NONE';
    case 'DENIED':
      return 'TCP_DENIED';
    case 'STALE':
      return 'TCP_STALE_HIT';
    case 'REVALIDATED':
      return 'TCP_REFRESH_HIT';
    case 'MISS':
    case 'BYPASS':
      return 'TCP_MISS';
    case 'HIT':
      if (status === 304) return 'TCP_IMS_HIT';
      return status >= 400 ? 'TCP_NEGATIVE_HIT' : 'TCP_HIT';
  }
}
