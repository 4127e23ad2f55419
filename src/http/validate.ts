/**
 * Validation with the origin: builds the conditional request, and applies a 304, or a HEAD's 200, to the stored
 * response.
 */
import { parseDate } from './dates.ts';
import { isStrong, isWeakMatch } from './entity-tag.ts';
import { FieldNames } from './field-names.ts';
import { currentAge } from './freshness.ts';
import { firstValue, type RawHeaders, withoutFields, withoutHopByHop } from './headers.ts';
import type { CacheOptions } from './options.ts';
import { type RequestHeaders, wholeSection } from './request-fields.ts';
import { storeResponse } from './store.ts';
import type { Exchange, RequestFacts, ResponseHead, Stored } from './stored.ts';

/** Whether the stored response has a validator for a conditional request. */
export function hasValidator(stored: Stored): boolean {
  return stored.etag !== undefined || stored.lastModifiedAt !== undefined;
}

/**
 * Returns the request fields for the origin with our conditions in place of the client's, and without Range. `others`:
 * variants whose tags are offered, too; without a selected response only these. RFC 9111 §4.3.1
 */
export function validationHeaders(
  headers: RequestHeaders,
  stored: Stored | undefined,
  others: readonly Stored[] = [],
): RawHeaders {
  const offered = stored === undefined ? others : [stored, ...others];
  if (offered.length === 0) return unconditionalHeaders(headers);
  const conditions: string[] = [];
  // Tags are sent verbatim, weak ones too.
  const tags = new Set(offered.flatMap(({ etag }) => (etag === undefined ? [] : [etag])));
  if (tags.size > 0) conditions.push('If-None-Match', [...tags].join(', '));
  const lastModified = stored === undefined ? undefined : firstValue(stored.headers, 'last-modified');
  if (lastModified !== undefined && stored?.lastModifiedAt !== undefined) {
    conditions.push('If-Modified-Since', lastModified);
  }
  return [...unconditionalHeaders(headers), ...conditions];
}

/** Returns the request fields for a fetch of the whole representation, whatever the client requested. */
export function unconditionalHeaders(headers: RequestHeaders): RawHeaders {
  return withoutFields(wholeSection(headers), CONDITION_FIELDS);
}

export type FreshenOutcome<T extends Stored = Stored> =
  /**
   * The response to answer with. `afterwards`: `replace` the stored response with it; `delete` the stored one, since
   * the updated one may not be stored; or `keep` the stored one, since only this answer is not shareable.
   */
  | { readonly kind: 'freshened'; readonly stored: T; readonly afterwards: 'replace' | 'delete' | 'keep' }
  /** The 304 belongs to another representation: drop the stored one and fetch unconditionally. */
  | { readonly kind: 'mismatch' };

/**
 * Applies a 304. Members beyond `Stored`, such as the body's handle, are kept. `request`: the one that the 304 answers;
 * if a variant is reused, it determines the new secondary key.
 */
export function freshen<T extends Stored>(
  stored: T,
  request: RequestFacts,
  headers304: RawHeaders,
  exchange: Exchange,
  options: CacheOptions,
  invalidatedAt?: number,
): FreshenOutcome<T> {
  if (!identifies(headers304, stored, exchange.responseAt)) return { kind: 'mismatch' };
  return update(stored, request, headers304, exchange, options, invalidatedAt);
}

/** The stored responses whose validators a request offered. */
export interface Offered<T extends Stored = Stored> {
  /** The response that matches the request, also by its `Vary`. */
  readonly selected: T | undefined;
  /** Variants for other requests: only their tags were offered. */
  readonly others: readonly T[];
}

/**
 * Returns the stored response that the 304 confirms. A 304 without a tag confirms a response only if it was the only
 * one offered. RFC 9111 §4.3.4, docs/decisions/0455
 */
export function variantOf304<T extends Stored>(
  { selected, others }: Offered<T>,
  headers304: RawHeaders,
): T | undefined {
  const offered = selected === undefined ? others : [selected, ...others];
  const tag = firstValue(headers304, 'etag');
  if (tag === undefined) return offered.length === 1 ? offered[0] : undefined;
  const same = offered.find(({ etag }) => etag === tag);
  if (same !== undefined) return same;
  if (isStrong(tag))
    return isOnlyTag(offered, selected?.etag) && isWeakMatch(selected?.etag ?? '', tag) ? selected : undefined;
  return offered.find(({ etag }) => etag !== undefined && isWeakMatch(etag, tag));
}

/**
 * Whether `tag` is the only offered tag. Since the origin compares weakly (RFC 9110 §13.1.2), a 304 then confirms it.
 */
function isOnlyTag(offered: readonly Stored[], tag: string | undefined): boolean {
  return tag !== undefined && offered.every(({ etag }) => etag === undefined || etag === tag);
}

export type HeadOutcome<T extends Stored = Stored> =
  | { readonly kind: 'unchanged' }
  /** Replaces the stored response, with the HEAD's fields or marked invalid. */
  | { readonly kind: 'updated'; readonly stored: T }
  | { readonly kind: 'delete' };

/**
 * Applies a forwarded HEAD's response to the stored GET response; `bodyBytes` is the stored body's length. RFC 9111
 * §4.3.5
 */
export function updateFromHead<T extends Stored>(
  stored: T,
  request: RequestFacts,
  response: ResponseHead,
  exchange: Exchange,
  options: CacheOptions,
  bodyBytes: number,
): HeadOutcome<T> {
  if (response.status !== 200 || stored.status !== 200) return { kind: 'unchanged' };
  const completeBytes = stored.range?.complete ?? bodyBytes;
  if (!isSameRepresentation(response.headers, stored, completeBytes)) {
    return { kind: 'updated', stored: { ...stored, isInvalid: true } };
  }
  const outcome = update(stored, { ...request, method: 'GET' }, response.headers, exchange, options);
  if (outcome.afterwards === 'keep') return { kind: 'unchanged' };
  return outcome.afterwards === 'delete' ? { kind: 'delete' } : { kind: 'updated', stored: outcome.stored };
}

/** Kinds of failed validations. */
export type ValidationFailure =
  /** No response: connection error, timeout, or not HTTP. */
  | 'unreachable'
  /** A status for which `isErrorStatus` is true. */
  | 'errorStatus';

/** Whether `stale-if-error` applies to a status. RFC 5861 §4 */
export function isErrorStatus(status: number): boolean {
  return status === 500 || status === 502 || status === 503 || status === 504;
}

/**
 * Whether the stored response may be served after a failed validation. If not, the client gets the error response, or
 * 504 if there is none. docs/decisions/0116
 */
export function isUsableOnError(
  stored: Stored,
  failure: ValidationFailure,
  now: number,
  options: CacheOptions,
): boolean {
  if (stored.forbidsStale || stored.isInvalid) return false; // RFC 9111 §4.2.4
  const staleMs = currentAge(stored, now) - stored.lifetimeMs;
  if (stored.staleIfErrorMs !== undefined) return staleMs <= stored.staleIfErrorMs; // RFC 5861 §4
  // RFC 9111 §4.2.4: "disconnected", up to the site's limit
  return failure === 'unreachable' && staleMs <= options.staleCapSeconds * 1000;
}

const CONDITION_FIELDS = new FieldNames([
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
]);

/** Fields that describe the stored bytes, which a 304 does not carry. RFC 9111 §3.2 */
const BODY_FIELDS = new FieldNames(['content-encoding', 'content-length', 'content-range']);

const BODY_FIELDS_AND_TAG = BODY_FIELDS.with('etag');

/**
 * Whether the 304 belongs to the stored response. A 304 without a validator does. Among several tags `variantOf304` has
 * decided. RFC 9111 §4.3.4
 */
function identifies(headers304: RawHeaders, stored: Stored, now: number): boolean {
  const tag = firstValue(headers304, 'etag');
  if (tag !== undefined) {
    return stored.etag === undefined ? !isStrong(tag) : isWeakMatch(tag, stored.etag);
  }
  const lastModified = firstValue(headers304, 'last-modified');
  if (lastModified === undefined || stored.lastModifiedAt === undefined) return true;
  return parseDate(lastModified, now) === stored.lastModifiedAt;
}

/** Whether every validator of the HEAD's response, and its length, equal the stored ones. RFC 9111 §4.3.5 */
function isSameRepresentation(headers: RawHeaders, stored: Stored, completeBytes: number): boolean {
  const tag = firstValue(headers, 'etag');
  if (tag !== undefined && tag !== stored.etag) return false;
  const lastModified = firstValue(headers, 'last-modified');
  if (lastModified !== undefined && lastModified !== firstValue(stored.headers, 'last-modified')) return false;
  const length = firstValue(headers, 'content-length');
  return length === undefined || Number(length) === completeBytes;
}

/** Whether a strong tag answers a weak one. It may belong to another coding, so the stored bytes keep theirs. */
function isStrengthened({ etag }: Stored, headers: RawHeaders): boolean {
  return etag !== undefined && !isStrong(etag) && isStrong(firstValue(headers, 'etag') ?? '');
}

/** Replaces stored fields with those of the same name in the update, and adds new ones. RFC 9111 §3.2 */
function update<T extends Stored>(
  stored: T,
  request: RequestFacts,
  headers: RawHeaders,
  exchange: Exchange,
  options: CacheOptions,
  invalidatedAt?: number,
): Extract<FreshenOutcome<T>, { kind: 'freshened' }> {
  const added = withoutHopByHop(headers, isStrengthened(stored, headers) ? BODY_FIELDS_AND_TAG : BODY_FIELDS);
  const replaced = new FieldNames(added.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const merged = [...withoutFields(stored.headers, replaced), ...added];
  const response = { status: stored.status, reason: stored.reason, headers: merged };
  // The client's directives applied to the decision, not to the origin's response.
  const whole = { ...request, method: 'GET', hasBody: false, directives: undefined };
  const outcome = storeResponse(whole, response, exchange, options, invalidatedAt);
  if (outcome.kind === 'store') {
    return { kind: 'freshened', stored: { ...stored, ...outcome.stored }, afterwards: 'replace' };
  }
  const once = { ...stored, headers: withoutFields(merged, AGE), responseAt: exchange.responseAt, initialAgeMs: 0 };
  // RFC 9111 §3.5: this client's authorization does not affect the response stored for others.
  return { kind: 'freshened', stored: once, afterwards: outcome.reason === 'authorization' ? 'keep' : 'delete' };
}

const AGE = new FieldNames(['age']);
