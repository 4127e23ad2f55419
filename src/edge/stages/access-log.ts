/**
 * Stage 11: builds one log record per request, however it ended, and one per minute for long-lived answers.
 * `logs/line.ts` formats the lines. Pure.
 */
import { firstValue } from '#http/headers.ts';
import type { RequestHeaders } from '#http/request-fields.ts';
import type { AccessRecord, CacheCode } from '#logs/line.ts';
import { maskAuthKeys } from '#sites/live-key.ts';
import { REFUSAL_TYPE } from '../early-refusal.ts';
import { type ReceivedRequest, requestHeadBytes } from '../request.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import type { CutStatus, Viewer } from '../viewer.ts';
import type { NamedSite } from './named-site.ts';

/** The status logged for a client that left before its answer was sent. */
export const CLIENT_LEFT = 499;

interface Ending {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Set if we cut the request, or the answer before it on the connection. */
  readonly cutStatus: CutStatus | undefined;
}

/** Builds the record of a request. `answer` is `undefined` if the client left before there was one. */
export function describeRequest(
  viewer: Viewer,
  { host, hasKeys }: Pick<NamedSite, 'host' | 'hasKeys'>,
  answer: EdgeAnswer | undefined,
  { startedAt, endedAt, cutStatus }: Ending,
): AccessRecord {
  const { received } = viewer;
  const referer = firstValue(received.headers, 'referer');
  return {
    clientAddress: received.clientAddress,
    endedAt,
    durationMs: endedAt - startedAt,
    requestBytes: viewer.receivedBytes,
    responseBytes: viewer.sentBytes,
    host: host ?? namedHost(received.headers),
    method: received.method,
    target: hasKeys ? maskAuthKeys(pathOf(received.target)) : pathOf(received.target),
    httpVersion: received.httpVersion,
    cacheCode: cacheCode(answer),
    status: viewer.refusal?.status ?? cutStatus ?? (viewer.isFinished ? viewer.statusSent : CLIENT_LEFT),
    contentType: answer === undefined ? undefined : firstValue(answer.headers, 'content-type'),
    referer: referer !== undefined && hasKeys ? maskAuthKeys(referer) : referer,
    userAgent: firstValue(received.headers, 'user-agent'),
  };
}

/**
 * The host as the client sent it, valid or not, normalized like a site's: in lower case, without port or trailing dot.
 */
function namedHost(headers: RequestHeaders): string | undefined {
  return firstValue(headers, 'host')?.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** The path and query of a target in origin form or absolute form. RFC 9112 §3.2.2 */
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?]*\/?/i, '/');
}

export interface Refused {
  readonly clientAddress: string;
  readonly status: number;
  readonly responseBytes: number;
  readonly endedAt: number;
  /** The request head as far as it was read; `undefined` if none was. */
  readonly head: Pick<ReceivedRequest, 'method' | 'target' | 'httpVersion' | 'headers'> | undefined;
  /** The HTTP version if no head was read; 1.1 if absent. */
  readonly httpVersion?: '2.0';
}

/** The record of input that did not become a request. */
export function describeRefusal(refused: Refused): AccessRecord {
  const { clientAddress, status, responseBytes, endedAt, head, httpVersion = '1.1' } = refused;
  return {
    clientAddress,
    endedAt,
    durationMs: 0,
    requestBytes: head === undefined ? 0 : requestHeadBytes(head),
    responseBytes,
    host: head && namedHost(head.headers),
    method: head?.method,
    target: head && maskAuthKeys(head.target),
    httpVersion: head?.httpVersion ?? httpVersion,
    cacheCode: 'NONE',
    status,
    contentType: responseBytes === 0 ? undefined : REFUSAL_TYPE,
    referer: head && firstValue(head.headers, 'referer'),
    userAgent: head && firstValue(head.headers, 'user-agent'),
  };
}

/** Maps an answer to the cache code in the log. `undefined`: the client left before there was an answer. */
export function cacheCode(answer: EdgeAnswer | undefined): CacheCode {
  switch (answer?.mark.status) {
    case undefined:
    case 'REDIRECT':
    case 'OWN':
    case 'ERROR':
      return 'NONE';
    case 'DENIED':
      return 'TCP_DENIED';
    case 'STALE':
      return 'TCP_STALE_HIT';
    case 'REVALIDATED':
      return 'TCP_REFRESH_HIT';
    case 'BYPASS':
      return 'TCP_MISS';
    case 'MISS':
      return answer?.isReplacement === true ? 'TCP_REFRESH_MISS' : 'TCP_MISS';
    case 'HIT':
      if (answer?.status === 304) return 'TCP_IMS_HIT';
      if ((answer?.status ?? 0) >= 400) return 'TCP_NEGATIVE_HIT';
      return answer?.isFromDisk === true || answer?.body.kind === 'session' ? 'TCP_HIT' : 'TCP_MEM_HIT';
  }
}
