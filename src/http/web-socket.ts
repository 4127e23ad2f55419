/** The opening handshake of WebSocket: recognizes requests and verifies responses. RFC 6455 §4; pure. */
import { createHash } from 'node:crypto';
import { allValues, hasField, listMembers, type RawHeaders } from './headers.ts';
import type { RequestHeaders } from './request-fields.ts';

export interface HandshakeRequest {
  readonly method: string;
  readonly httpVersion: string;
  readonly headers: RequestHeaders;
}

/**
 * Whether a request may be forwarded as a handshake. Other requests with `Upgrade` are served normally: a server may
 * always ignore it. RFC 9110 §7.8
 */
export function isWebSocketHandshake({ method, httpVersion, headers }: HandshakeRequest): boolean {
  if (method !== 'GET' || httpVersion !== '1.1') return false;
  const options = listMembers(allValues(headers, 'connection'));
  // A client that also requests `close` cannot mean to continue with another protocol.
  if (!options.includes('upgrade') || options.includes('close')) return false;
  // Both ends might disagree about where a body ends.
  if (BODY_FIELDS.some((name) => hasField(headers, name))) return false;
  const keys = allValues(headers, KEY);
  return keys.length === 1 && keys[0] !== '' && listMembers(allValues(headers, 'upgrade')).includes('websocket');
}

/**
 * Whether a 101 answers this handshake. Otherwise it is not WebSocket: an application that can be made to answer 101
 * would let its client speak to the origin past the edge. RFC 6455 §4.2.2
 */
export function isHandshakeAccepted(request: RequestHeaders, response: RawHeaders): boolean {
  const [protocol, ...others] = listMembers(allValues(response, 'upgrade'));
  const [accept, ...more] = allValues(response, 'sec-websocket-accept');
  if (protocol !== 'websocket' || others.length > 0 || more.length > 0) return false;
  return accept === acceptValue(request);
}

/** Returns the fields of the 101 that accepts the handshake, without subprotocol or extensions. RFC 6455 §4.2.2 */
export function handshakeHeaders(request: RequestHeaders): RawHeaders {
  return ['Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Accept', acceptValue(request)];
}

function acceptValue(request: RequestHeaders): string {
  const [key = ''] = allValues(request, KEY);
  return createHash('sha1')
    .update(key + ACCEPT_SUFFIX, 'latin1')
    .digest('base64');
}

const KEY = 'sec-websocket-key';
const BODY_FIELDS = ['content-length', 'transfer-encoding', 'expect'] as const;
/** RFC 6455 §1.3 */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
