/**
 * Every word that `X-Cache`, the metrics and the logs use for how a request was answered and why. The table in
 * `docs/edge.md` shows the same words, and a test compares them.
 */
import type { BypassReason } from '#http/decide.ts';
import type { RequestProblem } from '#http/request.ts';
import type { SkipReason } from '#http/store.ts';
import { DENY_REASONS } from '#sites/access.ts';
import type { StoreRefusal } from './store/store.ts';

/** Why an origin gave no usable answer. */
export const ORIGIN_FAILURES = {
  noOrigin: 'the site has no origin to ask',
  originDns: 'the name of the origin does not resolve',
  originForbidden: 'the edge may not connect to any address of the origin',
  originBusy: 'all connections to the origin are in use, and none became free within the limit',
  originShare:
    "the client, or its kind of requests, has its share of the origin's connections, and none became free within the limit; or the client was too slow on a connection that others waited for",
  buffersFull:
    "the buffers have no room for the request's body (the share of the client or of the domain, the disk or the memory), and no connection for streamed bodies became free within the limit",
  noSocket: 'this machine has no socket left for a connection: not a fault of the origin',
  originConnect: 'no connection: refused, unreachable or cut before it was established',
  originConnectTimeout: 'no connection within the limit',
  originTls: 'the TLS handshake failed, or the certificate is not valid for the name',
  originTimeout: 'no response head within the limit',
  originReset: 'the connection ended before the response head was complete',
  originCut: "the response's body broke off; an answer that has begun is cut",
  originMalformed: 'the response is not HTTP',
  originHeaderTooLarge: 'the response head is larger than the limit',
} as const;

/** Why a request is refused without asking the cache or an origin. */
export const DENIALS = {
  unknownHost: 'no site has this host',
  closed: 'the customer has closed the domain',
  rejected: 'the domain was rejected at review',
  disabled: 'the operator has disabled the domain',
  accountLimit: 'the account is over its bandwidth, and its operator lets edges refuse viewers then',
  referer: 'the site does not allow the Referer, or requires one and it is missing',
  ...DENY_REASONS,
  addressList: "the client's address is on a list that the site denies",
  notListed: "the client's address is on none of the lists that the site allows",
  rateLimit: 'the client asks more often than a limit of the site allows: 429',
  signature: 'the URL has no valid auth_key of the domain',
  expired: 'the auth_key of the URL is valid no longer',
  playKey: 'the query has no valid auth_key of the domain for this stream, or it has expired',
  paused: 'the stream is forbidden',
} as const;

/** What is wrong with a request: found by the check of `http/request.ts`, or before it by the parser. */
export const REQUEST_PROBLEMS = {
  host: 'not exactly one Host, or an invalid one',
  hostMismatch: 'an absolute target for another host than Host, or another scheme',
  target: 'the target is invalid: a fragment, a control byte, a broken percent-encoding',
  targetTooLong: 'the target is longer than 8 KiB',
  method: 'TRACE or CONNECT',
  framing: 'the body has no single, valid length',
  transferCoding: 'a transfer coding other than chunked',
  repeatedField: 'several lines of a field that has one value, such as Referer or Range',
  malformed: 'not HTTP',
  plainHttp: 'plain HTTP on the port for HTTPS',
  headerTooLarge: 'the header section is larger than 32 KiB',
  bodyTooLarge: 'the body is larger than 100 MiB',
  requestTimeout: 'the request did not arrive within the limit',
  version: 'neither HTTP/1.1 nor HTTP/1.0',
  expectation: 'an expectation other than 100-continue',
} as const satisfies Record<RequestProblem, string> & Record<string, string>;

/** Why the edge answers with an error of its own, though the request is valid and the origins are not to blame. */
export const EDGE_FAULTS = {
  misdirected: "the connection's certificate is not that of the requested host",
  loop: 'the request has already passed this service',
  tooManyWebSockets: 'the worker has its limit of WebSocket connections, or the client or the domain its share',
  noStream: 'there is no such broadcast, it is over, or the requested file has left its playlist',
  liveTooEarly: 'the requested playlist lies too far ahead',
  liveDirectives:
    'a playlist was requested with an `_HLS_msn` or `_HLS_part` that is not a number, with one of the three directives twice, or with a part but no segment',
  liveUnavailable: 'the live process cannot be reached, or did not answer in time',
  liveShare: "the domain has its share of this machine's streams, or of the requests to the live process",
  liveWaits: 'the worker has its limit of requests that wait for a file of a live stream, or the client its share',
  livePull: "the stream could not be pulled from the domain's origins",
  onlyIfCached: 'the client accepts only a stored answer, and there is none',
  tierSite: 'an edge that fetches through this one has another domain for the host',
  internal: 'a fault of the edge; see its log',
} as const;

/** Why a request is sent elsewhere. */
export const REDIRECTS = {
  forceHttps: 'the site is served over HTTPS only',
  redirectRule: 'a redirect of the site matches the path',
} as const;

/** What the edge answers by itself, for the service. */
export const OWN_ANSWERS = {
  acmeChallenge: 'a certificate authority checks whether the name is served here',
  health: 'a probe asks whether this edge should get viewers',
  livePreflight: 'a browser asks whether a page of another origin may read a live stream',
  serverOptions: '`OPTIONS *`, or OPTIONS that may not be passed on: Max-Forwards is 0',
} as const;

/** Why the cache is not asked. */
export const BYPASSES = {
  method: 'the method is neither GET nor HEAD',
  requestBody: 'a GET or HEAD with a body',
  precondition: 'If-Match or If-Unmodified-Since: only the origin can tell',
  requestNoStore: "the client's no-store, if the site honours it",
  websocket: 'a WebSocket handshake: the connection itself is passed through',
  contentCoding: 'the cached response has a content coding that the client does not accept',
  policy: 'a policy of the site forbids caching: is_cache 0, or a lifetime of zero',
  noPolicy: "no policy matches, and the site does not follow the origin's headers",
  dotSegments: 'the path has dot segments, which an origin may resolve differently from the cache key',
} as const satisfies Record<BypassReason, string> & Record<string, string>;

/** Why a response of an origin was not stored. */
export const SKIPS = {
  method: "neither a GET's response nor a POST's that represents its own address: a HEAD's, for example",
  requestBody: 'the request had a body',
  requestNoStore: "the client's no-store, if the site honours it",
  status: 'a status that is not stored',
  noStore: 'Cache-Control: no-store',
  noCache: 'Cache-Control or Pragma: no-cache, which no policy overrides',
  private: 'Cache-Control: private',
  setCookie: 'it sets a cookie',
  authorization: 'the request had Authorization, and the response does not say that it may be shared',
  varyAny: 'Vary: *',
  contentRange: 'a 206 without a usable Content-Range',
  notCacheable: 'no freshness, and a status without a default',
  noReuse: 'stale from the start, and nothing to validate it with',
  invalidated: 'its address was purged or invalidated while it was fetched',
  parent: 'the edge that it was fetched through says that it may not be stored',
  redirectTarget: 'a redirect to be followed, whose target gave no answer',
  otherScheme: 'a redirect to the same address by the other scheme, although one object serves both',
  liveStream: 'a broadcast, which has no end',
  tooLarge: 'larger than the largest object that is stored',
  storeFull: 'the disk is full, and the object is too large for memory',
  storeError: 'the disk cannot be used, and the object is too large for memory',
} as const satisfies Record<SkipReason | StoreRefusal, string> & Record<string, string>;

/** Why a prefetched object is not in the store, beside the words above. */
export const PREFETCH_FAILURES = {
  errorStatus: 'the origin answered with a status of 400 or more',
  incomplete: 'the body did not arrive whole, or the store could not keep up with it',
  timeout: 'the object was not stored within ten minutes',
} as const;

export type OriginFailure = keyof typeof ORIGIN_FAILURES;
export type Denial = keyof typeof DENIALS;
export type RequestFault = keyof typeof REQUEST_PROBLEMS;
export type EdgeFault = keyof typeof EDGE_FAULTS;
type Redirect = keyof typeof REDIRECTS;
type OwnAnswer = keyof typeof OWN_ANSWERS;
export type Bypass = keyof typeof BYPASSES;
export type Skip = keyof typeof SKIPS;
export type PrefetchFailure = keyof typeof PREFETCH_FAILURES;

/** Why a redirect is passed to the client as it is. Also a label of the metrics. */
export type Unfollowed =
  /** The limit of followed redirects is reached. */
  | 'limit'
  /** The address has been asked in this chain already. */
  | 'loop'
  /** Not one absolute or relative http(s) URL without credentials, or that of another domain which this edge serves. */
  | 'target'
  /** The redirect leads from TLS to a connection without it. */
  | 'downgrade'
  /** The redirect's own body is too large to be kept until it is known whether it is needed. */
  | 'body'
  /** The target is not an address that the edge connects to, or gave no answer. */
  | 'failed';

/** How a connection began, or why it did not. */
export type Handshake =
  | 'full'
  | 'resumed'
  /** The client names no host. */
  | 'noServerName'
  /** No site has the host, or the site has no HTTPS. */
  | 'unknownServerName'
  /** The site's certificate is not here, cannot be used, or does not cover the host. */
  | 'noCertificate'
  /** Not TLS, or not a readable hello. */
  | 'notTls'
  /** Plain HTTP on the port for HTTPS. */
  | 'plainHttp'
  | 'timeout'
  /** Ended to make room for newer ones. */
  | 'crowded'
  /** The client broke off or refused the certificate, or there is no version or cipher that both have. */
  | 'failed';

export type NoHandshake = Extract<Handshake, 'unknownServerName' | 'noCertificate'>;

/** How a request was answered: `X-Cache` is the status and, where there is one, the reason. */
export type CacheMark =
  | { readonly status: 'HIT' | 'STALE' | 'REVALIDATED' }
  /** The reason why it was not stored; without one it was, as far as its body arrives whole. */
  | { readonly status: 'MISS'; readonly reason?: Skip }
  | { readonly status: 'BYPASS'; readonly reason: Bypass }
  | { readonly status: 'REDIRECT'; readonly reason: Redirect }
  | { readonly status: 'OWN'; readonly reason: OwnAnswer }
  | { readonly status: 'DENIED'; readonly reason: Denial }
  | { readonly status: 'ERROR'; readonly reason: RequestFault | OriginFailure | EdgeFault };

export function formatMark(mark: CacheMark): string {
  const reason = reasonOf(mark);
  return reason === '' ? mark.status : `${mark.status} ${reason}`;
}

/** Returns the reason of a mark; empty if it has none. */
export function reasonOf(mark: CacheMark): string {
  return 'reason' in mark ? mark.reason : '';
}

/** The status that an origin's failure is answered with. RFC 9110 §15.6.3 to §15.6.5 */
export function failureStatus(failure: OriginFailure): 502 | 503 | 504 {
  if (UNAVAILABLE.has(failure)) return 503;
  return failure === 'originTimeout' || failure === 'originConnectTimeout' ? 504 : 502;
}

const UNAVAILABLE: ReadonlySet<OriginFailure> = new Set(['originBusy', 'originShare', 'buffersFull', 'noSocket']);
