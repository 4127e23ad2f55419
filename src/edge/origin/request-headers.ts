/** What a request says when it leaves for an origin. Pure. */
import { allValues, listMembers, type RawHeaders, withoutHopByHop } from '#http/headers.ts';

/** This service's name in `Via` and `CDN-Loop`. RFC 9110 §7.6.3, RFC 8586 */
export const SERVICE_NAME = 'causeway';

export interface ForwardedRequest {
  /** As received. */
  readonly headers: RawHeaders;
  readonly httpVersion: string;
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';
  /** The host the client asked for. */
  readonly host: string;
}

/**
 * Without `Host` (each origin has its own). What the client claims about earlier hops is replaced by what the edge knows:
 * the answer may be stored, and nothing that is not in the cache key may change it. Edge rule 3
 */
export function originHeaders(request: ForwardedRequest, changes: RawHeaders = []): RawHeaders {
  const { headers, httpVersion, clientAddress, scheme, host } = request;
  return [
    ...withoutHopByHop(headers, REPLACED),
    ...changes,
    'X-Forwarded-For',
    clientAddress,
    'X-Forwarded-Proto',
    scheme,
    'X-Forwarded-Host',
    host,
    'Via',
    [...allValues(headers, 'via'), `${httpVersion} ${SERVICE_NAME}`].join(', '),
    'CDN-Loop',
    [...allValues(headers, 'cdn-loop'), SERVICE_NAME].join(', '),
  ];
}

/** The request has been here before. Parameters after `;` do not count. RFC 8586 §2 */
export function isLoop(headers: RawHeaders): boolean {
  return listMembers(allValues(headers, 'cdn-loop')).some((member) => member.split(';')[0]?.trim() === SERVICE_NAME);
}

const REPLACED: ReadonlySet<string> = new Set([
  'host',
  'expect', // answered here; the origin is not asked to wait
  'via',
  'cdn-loop',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-original-url',
  'x-rewrite-url',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);
