/** Stage 1: what a client sent, as an `EdgeRequest`, or what is wrong with it. Pure. */
import type { RawHeaders } from '#http/headers.ts';
import { checkRequest, type RequestLine, type ValidRequest } from '#http/request.ts';
import { readRequestFacts } from '#http/request-facts.ts';
import { type RequestHeaders, wholeSection } from '#http/request-fields.ts';
import type { RequestFacts } from '#http/stored.ts';
import { splitTarget } from '#http/target.ts';
import { isLoop, originHeaders } from './origin-headers.ts';
import type { EdgeFault, RequestFault } from './reasons.ts';
import type { Secured } from './secured.ts';
import type { TierRequest } from './tier-fields.ts';

/** A request as read from the connection. */
export interface ReceivedRequest extends RequestLine {
  /** Absent where the connection to us is plain. */
  readonly secured?: Secured | undefined;
  /** The address of the TCP peer, or as trusted proxies name it, without port; IPv4 also on a dual-stack socket. */
  readonly clientAddress: string;
  /** The parser takes a few versions for HTTP/1 that are not. */
  readonly hasUnknownVersion: boolean;
  /** An expectation other than `100-continue`. */
  readonly hasUnknownExpectation: boolean;
  /** The request has a body without a length, whose end HTTP/2 marks by its framing. */
  readonly hasUnframedBody?: boolean;
  /** A problem found by the reader of the connection. */
  readonly problem?: 'malformed' | 'headerTooLarge';
  /** Present if an edge of the fleet asks, which this one fetches for. */
  readonly tier?: TierRequest | undefined;
  /** The protocol that the connection is given away for; absent: HTTP goes on. */
  readonly upgrade?: 'websocket' | undefined;
  /**
   * A GET with nothing but its target and `Accept-Encoding` that matters for stored responses. Absent: not determined.
   */
  readonly isPlain?: boolean;
}

export interface EdgeRequest extends Omit<ValidRequest, 'kind'> {
  readonly kind: 'request';
  readonly headers: RequestHeaders;
  readonly httpVersion: ReceivedRequest['httpVersion'];
  readonly clientAddress: string;
  readonly hasUnframedBody: boolean;
  readonly upgrade: 'websocket' | undefined;
  /** See `CdnName`. */
  readonly cdnId: string;
  readonly facts: RequestFacts;
}

export interface InvalidEdgeRequest {
  readonly kind: 'invalid';
  readonly status: 400 | 405 | 414 | 417 | 431 | 501 | 505 | 508;
  readonly reason: RequestFault | EdgeFault;
}

/** `OPTIONS *`: it speaks of the server as a whole, of no site and no origin. RFC 9110 §9.3.7 */
export interface ServerRequest {
  readonly kind: 'server';
}

export function parseRequest(
  received: ReceivedRequest,
  cdnId: string,
): EdgeRequest | ServerRequest | InvalidEdgeRequest {
  const { problem } = received;
  if (problem !== undefined)
    return { kind: 'invalid', status: problem === 'headerTooLarge' ? 431 : 400, reason: problem };
  if (received.hasUnknownVersion) return { kind: 'invalid', status: 505, reason: 'version' }; // RFC 9110 §15.6.6
  const checked = checkRequest(received);
  if (checked.kind === 'invalid') return { kind: 'invalid', status: checked.status, reason: checked.problem };
  if (received.hasUnknownExpectation) return { kind: 'invalid', status: 417, reason: 'expectation' }; // RFC 9110 §10.1.1
  if (isLoop(received.headers, cdnId, received.tier?.hops)) return { kind: 'invalid', status: 508, reason: 'loop' }; // RFC 5842 §7.2
  if (checked.target === '*') return { kind: 'server' };
  return {
    ...checked,
    headers: received.headers,
    httpVersion: received.httpVersion,
    clientAddress: received.clientAddress,
    hasUnframedBody: received.hasUnframedBody ?? false,
    upgrade: received.upgrade,
    cdnId,
    facts: readFacts(received, checked, cdnId),
  };
}

/**
 * Facts whose fields are those sent to an origin, which Vary refers to. They are built only if a stored response
 * varies. RFC 9111 §4.1
 */
function readFacts(
  received: Pick<ReceivedRequest, 'method' | 'headers' | 'httpVersion' | 'clientAddress' | 'hasUnframedBody'>,
  { uri, scheme, host }: Pick<ValidRequest, 'uri' | 'scheme' | 'host'>,
  cdnId: string,
): RequestFacts {
  const { method, headers, httpVersion, clientAddress, hasUnframedBody } = received;
  let sent: RawHeaders | undefined;
  const sentHeaders = () => {
    sent ??= originHeaders({ headers, httpVersion, clientAddress, scheme, host, cdnId });
    return sent;
  };
  return readRequestFacts({ method, uri, headers, sentHeaders, hasUnframedBody: hasUnframedBody === true });
}

/** The same request with other fields for the origin. */
export function withRequestHeaders(request: EdgeRequest, headers: RequestHeaders): EdgeRequest {
  const changed = { ...request, headers };
  return { ...changed, facts: readFacts(changed, changed, changed.cdnId) };
}

/** The same request with another target, in origin form. */
export function withTarget(request: EdgeRequest, target: string): EdgeRequest {
  const { scheme, authority } = request;
  const changed = { ...request, target, ...splitTarget(target), uri: `${scheme}://${authority}${target}` };
  return { ...changed, facts: readFacts(changed, changed, changed.cdnId) };
}

/** Request line and header section, written as HTTP/1.1 writes them. */
export function requestHeadBytes({
  method,
  target,
  headers,
}: Pick<ReceivedRequest, 'method' | 'target' | 'headers'>): number {
  // Two blanks, the version and a line end; colon, blank and line end per field; the empty line.
  return method.length + target.length + 12 + wholeSection(headers).reduce((sum, text) => sum + text.length + 2, 0) + 2;
}
