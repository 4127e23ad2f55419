/** What a request says when it leaves for an origin. Pure. */
import { FieldNames } from '#http/field-names.ts';
import { allValues, isHopByHop, joinedWith, listMembers, type RawHeaders, withoutHopByHop } from '#http/headers.ts';
import { type RequestHeaders, wholeSection } from '#http/request-fields.ts';

/** This service's name in `Cache-Status`, and in the `User-Agent` of its own requests. */
export const SERVICE_NAME = 'causeway';

/** This installation, as origins, clients and other services see it. */
export interface CdnName {
  /** Member of `CDN-Loop` and pseudonym in `Via`. May change once: when control announces the fleet's id. */
  readonly id: string;
}

/**
 * Returns the name of an installation in `CDN-Loop` and `Via`; `fleet` is its 8 hex digits, `undefined` while control
 * has announced none. RFC 8586 §2, RFC 9110 §7.6.3, docs/decisions/0730
 */
export function cdnIdOf(fleet: string | undefined): string {
  return fleet === undefined ? SERVICE_NAME : `${SERVICE_NAME}-${fleet}`;
}

export interface ForwardedRequest {
  /** Fields as received. */
  readonly headers: RequestHeaders;
  readonly httpVersion: string;
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';
  /** The host the client asked for. */
  readonly host: string;
  /** See `CdnName`. */
  readonly cdnId: string;
}

/**
 * Returns the request's fields for an origin, without `Host` (each origin has its own). Claims of the client about earlier
 * hops, its own address or another target are replaced by what the edge knows: the answer may be stored, and only parts of the
 * cache key may change it. Edge rule 3
 */
export function originHeaders(request: ForwardedRequest, changes: RawHeaders = []): RawHeaders {
  const { headers, httpVersion, clientAddress, scheme, host, cdnId } = request;
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
    joinedWith(headers, 'via', `${httpVersion} ${cdnId}`),
    'CDN-Loop',
    joinedWith(headers, 'cdn-loop', cdnId),
  ];
}

/**
 * Returns the fields for a redirect's target off the site: only fields that select a representation, none that identifies the
 * client or grants access. `headers`: from `originHeaders`. docs/decisions/0130
 */
export function elsewhereHeaders(headers: RawHeaders): RawHeaders {
  return headers.filter((_, index) => ELSEWHERE.has(headers[index - (index % 2)] ?? ''));
}

/**
 * Whether the request has been at an edge of this installation before. `hops`: times that it may have been, as a request
 * that an edge passes to its parent.
 */
export function isLoop(headers: RequestHeaders, cdnId: string, hops = 0): boolean {
  const members = listMembers(allValues(headers, 'cdn-loop'));
  // Parameters do not count. RFC 8586 §2
  return members.filter((member) => member.split(';')[0]?.trim() === cdnId).length > hops;
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
  'causeway-tier', // between edges of a fleet
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
