/** Stage 1: what a client sent, as an `EdgeRequest`, or what is wrong with it. Pure. */
import type { RawHeaders } from '#http/headers.ts';
import { checkRequest, type ValidRequest } from '#http/request.ts';
import { readRequestFacts } from '#http/request-facts.ts';
import type { RequestFacts } from '#http/stored.ts';
import { isLoop, originHeaders } from './origin/request-headers.ts';
import type { EdgeFault, RequestFault } from './reasons.ts';

/** As it came off the connection. */
export interface ReceivedRequest {
  readonly method: string;
  readonly target: string;
  readonly httpVersion: '1.0' | '1.1';
  readonly headers: RawHeaders;
  /** The client's own connection, be it to us or to a trusted proxy before us. */
  readonly isTls: boolean;
  /** Without port; IPv4 also on a dual-stack socket. Of the TCP peer, or as trusted proxies say. */
  readonly clientAddress: string;
  /** The parser takes a few versions for HTTP/1 that are not. */
  readonly hasUnknownVersion: boolean;
  /** An expectation other than `100-continue`. */
  readonly hasUnknownExpectation: boolean;
  /** What the connection is to go on as, where it is given away for that. */
  readonly upgrade?: 'websocket' | undefined;
}

export interface EdgeRequest extends Omit<ValidRequest, 'kind'> {
  readonly kind: 'request';
  readonly headers: RawHeaders;
  readonly httpVersion: '1.0' | '1.1';
  readonly clientAddress: string;
  readonly upgrade: 'websocket' | undefined;
  readonly facts: RequestFacts;
}

export interface InvalidEdgeRequest {
  readonly kind: 'invalid';
  readonly status: 400 | 405 | 414 | 417 | 501 | 505 | 508;
  readonly reason: RequestFault | EdgeFault;
}

export function parseRequest(received: ReceivedRequest): EdgeRequest | InvalidEdgeRequest {
  if (received.hasUnknownVersion) return { kind: 'invalid', status: 505, reason: 'version' }; // RFC 9110 §15.6.6
  const checked = checkRequest(received);
  if (checked.kind === 'invalid') return { kind: 'invalid', status: checked.status, reason: checked.problem };
  // It speaks of a whole server; a site is not one, and its origins are several.
  if (checked.target === '*') return { kind: 'invalid', status: 400, reason: 'target' };
  if (received.hasUnknownExpectation) return { kind: 'invalid', status: 417, reason: 'expectation' }; // RFC 9110 §10.1.1
  if (isLoop(received.headers)) return { kind: 'invalid', status: 508, reason: 'loop' }; // RFC 5842 §7.2
  return {
    ...checked,
    headers: received.headers,
    httpVersion: received.httpVersion,
    clientAddress: received.clientAddress,
    upgrade: received.upgrade,
    facts: readFacts(received, checked),
  };
}

/** Their fields are those that an origin is told, which Vary speaks of: made when something stored varies. RFC 9111 §4.1 */
function readFacts(
  {
    method,
    headers,
    httpVersion,
    clientAddress,
  }: Pick<ReceivedRequest, 'method' | 'headers' | 'httpVersion' | 'clientAddress'>,
  checked: Pick<ValidRequest, 'uri' | 'scheme' | 'host'>,
): RequestFacts {
  const { uri, scheme, host } = checked;
  let told: RawHeaders | undefined;
  return {
    ...readRequestFacts({ method, uri, headers }),
    get headers() {
      told ??= originHeaders({ headers, httpVersion, clientAddress, scheme, host });
      return told;
    },
  };
}

/** The same request with other fields for the origin. */
export function withRequestHeaders(request: EdgeRequest, headers: RawHeaders): EdgeRequest {
  const changed = { ...request, headers };
  return { ...changed, facts: readFacts(changed, changed) };
}
