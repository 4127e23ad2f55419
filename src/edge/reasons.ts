/**
 * Every word that `X-Cache`, the metrics and the logs use for how a request was answered and why. The table in
 * `docs/edge.md` shows the same words, and a test compares them.
 */

/** The first word of `X-Cache`. */
export type CacheStatus = 'HIT' | 'MISS' | 'STALE' | 'REVALIDATED' | 'BYPASS' | 'ERROR' | 'DENIED';

/** Why an origin gave no usable answer. */
export const ORIGIN_FAILURES = {
  noOrigin: 'the site has no origin to ask',
  originDns: 'the name of the origin does not resolve',
  originForbidden: 'every address of the origin is one that the edge does not connect to',
  originConnect: 'no connection: refused, unreachable or cut while it was made',
  originConnectTimeout: 'no connection within the limit',
  originTls: 'the TLS handshake failed, or the certificate is not valid for the name',
  originTimeout: 'no response head within the limit',
  originReset: 'the connection ended before the response head was complete',
  originMalformed: 'the response is not HTTP',
  originHeaderTooLarge: 'the response head is larger than the limit',
} as const;

/** Why a request is refused without asking the cache or an origin. */
export const DENIALS = {
  unknownHost: 'no site has this host',
  closed: 'the customer has closed the domain',
  rejected: 'the domain was rejected at review',
  disabled: 'the operator has disabled the domain',
} as const;

/** Why the edge itself answers with an error. */
export const EDGE_ERRORS = {
  badRequest: 'the request is not valid HTTP, or says two things at once',
  uriTooLong: 'the target is longer than 8 KiB',
  headerTooLarge: 'the header section is larger than the limit',
  bodyTooLarge: 'the body is larger than the limit',
  requestTimeout: 'the request did not arrive within the limit',
  methodNotAllowed: 'CONNECT and other methods that the edge does not proxy',
  expectationFailed: 'an expectation other than 100-continue',
  loop: 'the request has passed this service before',
  notCached: 'only-if-cached, and nothing usable is stored',
  staleForbidden: 'the origin fails, and what is stored may not be served stale',
  internal: 'a fault of the edge; the log has it',
} as const;

/** Why the cache is not asked. */
export const BYPASSES = {
  method: 'the method is neither GET nor HEAD',
  body: 'a GET or HEAD with a body',
  precondition: 'If-Match or If-Unmodified-Since: only the origin can tell',
  upgrade: 'the client asks for another protocol',
} as const;

/** Why a response of the origin was not stored. */
export const SKIPS = {
  noStore: 'Cache-Control: no-store',
  private: 'Cache-Control: private',
  authorization: 'the request carries Authorization and the response does not allow sharing',
  setCookie: 'the response sets a cookie',
  varyStar: 'Vary: *',
  status: 'a status that is not stored',
  noFreshness: 'no freshness lifetime and nothing to validate with',
  range: 'a part of the object',
  notModified: "the origin's 304 answers the client's own condition",
  invalidated: 'invalidated while it was fetched',
  tooLarge: 'larger than the largest object that is stored',
  incomplete: 'the body did not arrive whole',
} as const;

export type OriginFailure = keyof typeof ORIGIN_FAILURES;
export type Denial = keyof typeof DENIALS;
export type EdgeError = keyof typeof EDGE_ERRORS;
export type Bypass = keyof typeof BYPASSES;
export type Skip = keyof typeof SKIPS;
export type Reason = OriginFailure | Denial | EdgeError | Bypass | Skip;

/** The status that an origin's failure is answered with. RFC 9110 §15.6.3, §15.6.5 */
export function failureStatus(failure: OriginFailure): 502 | 504 {
  return failure === 'originTimeout' || failure === 'originConnectTimeout' ? 504 : 502;
}
