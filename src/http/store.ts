/** Decides whether a response may be stored, and with which times. RFC 9111 §3 */
import { parseAge } from './age.ts';
import { type Directives, parseCacheControl } from './cache-control.ts';
import { formatDate, parseDate } from './dates.ts';
import { FieldNames } from './field-names.ts';
import { freshnessLifetime, initialAge, isExplicit, isGuessable, type Lifetime } from './freshness.ts';
import { allValues, firstValue, hasField, type RawHeaders, withField, withoutHopByHop } from './headers.ts';
import type { CacheOptions } from './options.ts';
import { parseContentRange, spanBytes } from './range.ts';
import type { RequestHeaders } from './request-fields.ts';
import type { Exchange, PartialRange, RequestFacts, ResponseHead, Stored } from './stored.ts';
import { governingDirectives } from './targeted.ts';
import { isSameUri } from './uri.ts';
import { parseVary, pickFields, secondaryKey } from './vary.ts';

/** Why a response is not stored. */
export type SkipReason =
  /** Neither a GET, nor a POST whose response represents its own URI. */
  | 'method'
  /** The request had content, so the response may depend on it. */
  | 'requestBody'
  /** The client's `no-store`, if the site honours it. */
  | 'requestNoStore'
  /** 1xx, 304, 412, 416, or with `must-understand` a status that is not implemented. */
  | 'status'
  /** `no-store`. */
  | 'noStore'
  /**
   * `no-cache` if a policy would otherwise override that the origin wants validation; as `Pragma` if the lifetime is a
   * policy's.
   */
  | 'noCache'
  /** `private`. */
  | 'private'
  /** `Set-Cookie`, which the site does not store. */
  | 'setCookie'
  /** The request had `Authorization`, and the response does not say that it may be shared. */
  | 'authorization'
  /** `Vary: *`. */
  | 'varyAny'
  /** A 206 without a usable `Content-Range`, or whose length contradicts it. */
  | 'contentRange'
  /** No explicit freshness, no `public`, and no status with a default. */
  | 'notCacheable'
  /** Stale from the start, without a validator. */
  | 'noReuse'
  /** Requested before the key was purged or invalidated. */
  | 'invalidated';

export type StoreOutcome =
  | { readonly kind: 'store'; readonly stored: Stored }
  | { readonly kind: 'skip'; readonly reason: SkipReason };

/**
 * Decides by the head only. The caller stores the body and drops the entry if the body is incomplete
 * (`expectedBodyBytes`). `invalidatedAt`: the key's last purge or invalidation, epoch milliseconds; for a POST, the one
 * before its own.
 */
export function storeResponse(
  request: RequestFacts,
  response: ResponseHead,
  exchange: Exchange,
  options: CacheOptions,
  invalidatedAt = Number.NEGATIVE_INFINITY,
): StoreOutcome {
  const { directives, isTargeted } = governingDirectives(response.headers);
  const early =
    requestObstacle(request, options, exchange, invalidatedAt) ?? responseObstacle(request, response, directives);
  if (early !== undefined) return { kind: 'skip', reason: early }; // saves parsing dates
  const times = readTimes(response, directives, isTargeted, exchange, options);
  const reason =
    policyObstacle(response, directives, times.lifetime, options) ??
    lifetimeObstacle(request, response, directives, times, options) ??
    cookieObstacle(response, times.lifetime, options);
  if (reason !== undefined) return { kind: 'skip', reason };
  const vary = parseVary(allValues(response.headers, 'vary'));
  if (vary === undefined) return { kind: 'skip', reason: 'varyAny' }; // RFC 9111 §4.1: it would never match
  const range = response.status === 206 ? readPartialRange(response.headers) : undefined;
  if (response.status === 206 && range === undefined) return { kind: 'skip', reason: 'contentRange' };
  return { kind: 'store', stored: build({ request, response, exchange, options, directives, times, vary, range }) };
}

/**
 * Returns the body length that the head announces; `undefined` if it does not. A shorter body is never stored. RFC 9111
 * §3.3
 */
export function expectedBodyBytes(stored: Stored): number | undefined {
  if (stored.range !== undefined) return spanBytes(stored.range);
  return announcedBytes(stored.headers);
}

/** Returns the value of `Content-Length`; `undefined` if it is absent or invalid. */
export function announcedBytes(headers: RequestHeaders): number | undefined {
  const length = firstValue(headers, 'content-length');
  return length === undefined || !/^\d+$/.test(length) ? undefined : Number(length);
}

interface Times extends Pick<Stored, 'lifetimeMs' | 'initialAgeMs' | 'dateAt' | 'lastModifiedAt'> {
  readonly lifetime: Lifetime;
  readonly hasDate: boolean;
}

/** Final statuses whose meaning for a cache we implement. RFC 9111 §3, §5.2.2.3 */
const UNDERSTOOD_STATUSES: ReadonlySet<number> = new Set([
  200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504,
]);

/**
 * Statuses that answer the request's conditions or range, not its target: stored under the target's key, they would be
 * served to all clients.
 */
const CONDITION_STATUSES: ReadonlySet<number> = new Set([304, 412, 416]);

function requestObstacle(
  request: RequestFacts,
  options: CacheOptions,
  exchange: Exchange,
  invalidatedAt: number,
): SkipReason | undefined {
  if (request.method !== 'GET' && request.method !== 'POST') return 'method';
  if (request.method === 'GET' && request.hasBody) return 'requestBody';
  if (options.requestDirectives && request.directives?.noStore === true) return 'requestNoStore'; // RFC 9111 §5.2.1.5
  // A response in flight during a purge may be the one that was to be purged.
  return exchange.requestAt <= invalidatedAt ? 'invalidated' : undefined;
}

function responseObstacle(
  request: RequestFacts,
  { status, headers }: ResponseHead,
  directives: Directives,
): SkipReason | undefined {
  if (status < 200 || CONDITION_STATUSES.has(status)) return 'status'; // RFC 9111 §3: final
  if (directives.mustUnderstand) {
    // RFC 9111 §5.2.2.3: overrides no-store, for statuses that we do understand
    if (!UNDERSTOOD_STATUSES.has(status)) return 'status';
  } else if (directives.noStore) {
    return 'noStore'; // RFC 9111 §5.2.2.5
  }
  if (directives.isPrivate) return 'private'; // RFC 9111 §5.2.2.7
  const isShareable = directives.isPublic || directives.mustRevalidate || directives.sMaxage !== undefined;
  if (request.hasAuthorization && !isShareable) return 'authorization'; // RFC 9111 §3.5
  if (request.method === 'POST' && !isAnswerForTarget(request, status, headers)) return 'method';
  return undefined;
}

/** Obstacles that no policy overrides, and errors on a site with policies. Edge rule 4, docs/decisions/0115 */
function policyObstacle(
  { status, headers }: ResponseHead,
  { noCache }: Directives,
  lifetime: Lifetime,
  { policy, hasPolicies }: CacheOptions,
): SkipReason | undefined {
  if (hasPolicies && status >= 500) return 'notCacheable';
  if (policy?.overrides === true && noCache) return 'noCache';
  // Other statements of the origin take precedence over a policy that fills in; but Pragma is no lifetime.
  const isOurs = policy?.overrides === true || lifetime.source === 'policy';
  return isOurs && parseCacheControl(allValues(headers, 'pragma')).noCache ? 'noCache' : undefined;
}

/** A POST's response serves later GETs only if it identifies itself as the target's representation. RFC 9110 §9.3.3 */
function isAnswerForTarget(request: RequestFacts, status: number, headers: RawHeaders): boolean {
  if (status < 200 || status > 299 || status === 206) return false;
  const locations = allValues(headers, 'content-location');
  const [location] = locations;
  return locations.length === 1 && location !== undefined && isSameUri(location, request.uri);
}

/** Sources of lifetimes set by the customer instead of the origin. */
const CHOSEN_SOURCES: ReadonlySet<Lifetime['source']> = new Set(['policy', 'statusDefault']);

function lifetimeObstacle(
  request: RequestFacts,
  { status, headers }: ResponseHead,
  directives: Directives,
  { lifetime, lastModifiedAt }: Times,
  options: CacheOptions,
): SkipReason | undefined {
  // RFC 9111 §3: explicit freshness, public, or a heuristically cacheable status
  const hasGround = isExplicit(lifetime) || CHOSEN_SOURCES.has(lifetime.source);
  if (!hasGround && !isGuessable(status, directives, options)) return 'notCacheable';
  if (request.method === 'POST' && (!isExplicit(lifetime) || lifetime.lifetimeMs === 0)) return 'notCacheable'; // RFC 9110 §9.3.3
  const hasValidator = hasField(headers, 'etag') || lastModifiedAt !== undefined;
  const canBeUsed = lifetime.lifetimeMs > 0 || (directives.staleWhileRevalidate ?? 0) > 0;
  return hasValidator || (canBeUsed && !directives.noCache) ? undefined : 'noReuse';
}

function cookieObstacle({ headers }: ResponseHead, lifetime: Lifetime, options: CacheOptions): SkipReason | undefined {
  if (options.setCookie === 'strip' || !hasField(headers, 'set-cookie')) return undefined;
  // RFC 9111 §7.3: a heuristic lifetime does not justify sharing a viewer's session
  return options.setCookie === 'store' && isExplicit(lifetime) ? undefined : 'setCookie';
}

function readPartialRange(headers: RawHeaders): PartialRange | undefined {
  const values = allValues(headers, 'content-range');
  const range = values.length === 1 ? parseContentRange(values[0] ?? '') : undefined;
  const length = firstValue(headers, 'content-length');
  if (range === undefined || (length !== undefined && Number(length) !== spanBytes(range))) return undefined;
  return range;
}

function readTimes(
  { status, headers }: ResponseHead,
  directives: Directives,
  isTargeted: boolean,
  exchange: Exchange,
  options: CacheOptions,
): Times {
  const now = exchange.responseAt;
  const sentAt = parseDate(firstValue(headers, 'date'), now);
  const dateAt = sentAt ?? now; // RFC 9110 §6.6.1
  const lastModifiedAt = parseDate(firstValue(headers, 'last-modified'), now);
  const expires = isTargeted ? [] : allValues(headers, 'expires'); // RFC 9213 §2.2
  const lifetime = freshnessLifetime({ status, directives, expires, dateAt, lastModifiedAt }, now, options);
  const initialAgeMs = initialAge({ ageMs: parseAge(allValues(headers, 'age')), dateAt }, exchange);
  // An overriding policy's lifetime begins with the fetch, not by the origin's clock: so the response's age at that
  // time is added. Clients still see the full age (RFC 9111 §4.2.3). docs/decisions/0115
  const isOurs = lifetime.source === 'policy' && options.policy?.overrides === true;
  const ageBeforeMs = isOurs ? initialAgeMs - initialAge({ ageMs: 0, dateAt: now }, exchange) : 0;
  return {
    lifetime,
    lifetimeMs: lifetime.lifetimeMs + ageBeforeMs,
    initialAgeMs,
    dateAt,
    hasDate: sentAt !== undefined,
    lastModifiedAt,
  };
}

interface BuildInput {
  readonly request: RequestFacts;
  readonly response: ResponseHead;
  readonly exchange: Exchange;
  readonly options: CacheOptions;
  readonly directives: Directives;
  readonly times: Times;
  readonly vary: readonly string[];
  readonly range: PartialRange | undefined;
}

function build({ request, response, exchange, options, directives, times, vary, range }: BuildInput): Stored {
  const { staleWhileRevalidate, staleIfError } = directives;
  // RFC 9111 §5.2.2.10 implies proxy-revalidate, but an explicit stale window takes precedence.
  const isImplied =
    directives.sMaxage !== undefined && staleWhileRevalidate === undefined && staleIfError === undefined;
  const sent = vary.length === 0 ? NO_HEADERS : request.sentHeaders(); // made on demand
  return {
    status: response.status,
    reason: response.reason,
    headers: storedHeaders(response.headers, directives, times, options),
    vary,
    varyKey: secondaryKey(vary, sent, options),
    varyHeaders: pickFields(vary, sent),
    etag: firstValue(response.headers, 'etag'),
    range,
    requestAt: exchange.requestAt,
    responseAt: exchange.responseAt,
    dateAt: times.dateAt,
    lastModifiedAt: times.lastModifiedAt,
    initialAgeMs: times.initialAgeMs,
    lifetimeMs: times.lifetimeMs,
    staleWhileRevalidateMs: (staleWhileRevalidate ?? 0) * 1000,
    staleIfErrorMs: staleIfError === undefined ? undefined : staleIfError * 1000,
    mustValidate: directives.noCache,
    // RFC 9111 §4.2.4
    forbidsStale: directives.noCache || directives.mustRevalidate || directives.proxyRevalidate || isImplied,
    isInvalid: false,
    noTransform: directives.noTransform,
  };
}

function storedHeaders(headers: RawHeaders, directives: Directives, times: Times, options: CacheOptions): RawHeaders {
  // RFC 9111 §5.2.2.4, §5.2.2.7: named fields are for the first client only; §3.1: Age is recomputed
  const named = [...directives.noCacheFields, ...directives.privateFields];
  if (options.setCookie === 'strip') named.push('set-cookie');
  const kept = withoutHopByHop(headers, named.length === 0 ? AGE : AGE.with(...named));
  // Connection may list even Date, but a stored response needs one.
  return times.hasDate && hasField(kept, 'date') ? kept : withField(kept, 'Date', formatDate(times.dateAt)); // RFC 9110 §6.6.1
}

const AGE = new FieldNames(['age']);
const NO_HEADERS: RawHeaders = [];
