/** What a request says when it leaves for an origin. Pure. */
import { FieldNames } from '#http/field-names.ts';
import { allValues, isHopByHop, joinedWith, listMembers, type RawHeaders, withoutHopByHop } from '#http/headers.ts';
import { type RequestHeaders, wholeSection } from '#http/request-fields.ts';

/** This service's name in `Via` and `CDN-Loop`. RFC 9110 §7.6.3, RFC 8586 */
export const SERVICE_NAME = 'causeway';

export interface ForwardedRequest {
  /** Fields as received. */
  readonly headers: RequestHeaders;
  readonly httpVersion: string;
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';
  /** The host the client asked for. */
  readonly host: string;
}

/**
 * Returns the request's fields for an origin, without `Host` (each origin has its own). Claims of the client about earlier
 * hops, its own address or another target are replaced by what the edge knows: the answer may be stored, and only parts of the
 * cache key may change it. Edge rule 3
 */
export function originHeaders(request: ForwardedRequest, changes: RawHeaders = []): RawHeaders {
  const { headers, httpVersion, clientAddress, scheme, host } = request;
  return [
    ...withoutHopByHop(wholeSection(headers), NOT_PASSED_ON),
    ...changes,
    'X-Forwarded-For',
    clientAddress,
    'X-Real-IP',
    clientAddress,
    'X-Forwarded-Proto',
    scheme,
    'X-Forwarded-Host',
    host,
    'Via',
    joinedWith(headers, 'via', `${httpVersion} ${SERVICE_NAME}`),
    'CDN-Loop',
    joinedWith(headers, 'cdn-loop', SERVICE_NAME),
  ];
}

/**
 * Returns the fields for a redirect's target off the site: only fields that select a representation, none that identifies the
 * client or grants access. `headers`: from `originHeaders`. docs/decisions/0130
 */
export function elsewhereHeaders(headers: RawHeaders): RawHeaders {
  return headers.filter((_, index) => ELSEWHERE.has(headers[index - (index % 2)] ?? ''));
}

/** The request has been here before, as either field says: what stands between may have dropped the other. */
export function isLoop(headers: RequestHeaders): boolean {
  return (
    // Parameters do not count. RFC 8586 §2
    listMembers(allValues(headers, 'cdn-loop')).some((member) => member.split(';')[0]?.trim() === SERVICE_NAME) ||
    // Protocol, pseudonym, perhaps a comment. RFC 9110 §7.6.3
    listMembers(allValues(headers, 'via')).some((member) => member.split(/[ \t]+/)[1] === SERVICE_NAME)
  );
}

/**
 * Includes names that CGI, WSGI, PHP and their like cannot tell from a significant one: they read `_` as `-`. Such a field would
 * repeat, in another spelling, a field that the edge drops, overwrites, frames the message by or keys variants by.
 */
const NOT_PASSED_ON = {
  has: (name: string): boolean => REPLACED.has(name) || (name.includes('_') && isReserved(name.replaceAll('_', '-'))),
};

function isReserved(name: string): boolean {
  return REPLACED.has(name) || READ_HERE.has(name) || isHopByHop(name);
}

const REPLACED = new FieldNames([
  'host',
  'expect', // answered here; the origin is not asked to wait
  'alt-used', // RFC 7838 §5: the server that the client chose is the edge
  'via',
  'cdn-loop',
  'proxy', // a CGI origin would take it for its own HTTP_PROXY (CVE-2016-5385)
  // the client's host, scheme and port
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-protocol',
  'x-forwarded-scheme',
  'x-forwarded-ssl',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-forwarded-by',
  'x-forwarded-prefix',
  'x-forwarded-path',
  'x-forwarded-uri',
  'x-forwarded-url',
  'x-host',
  'x-original-host',
  'x-http-host-override',
  'x-backend-host',
  'x-scheme',
  'x-url-scheme',
  'front-end-https',
  // another target or method
  'x-original-url',
  'x-original-uri',
  'x-rewrite-url',
  'x-request-uri',
  'x-method',
  'x-method-override',
  'x-http-method',
  'x-http-method-override',
  // the client's address
  'x-real-ip',
  'true-client-ip',
  'x-client-ip',
  'client-ip',
  'x-cluster-client-ip',
  'x-proxyuser-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
]);

/** Passed on as they are, and read here: framing, conditions, and what responses commonly vary on. */
const READ_HERE = new FieldNames([
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-length',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'user-agent',
]);

const ELSEWHERE = new FieldNames([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'cdn-loop',
  'if-match',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'origin', // the website's, for the fields of CORS
  'pragma',
  'range',
  'user-agent',
  'via',
]);
