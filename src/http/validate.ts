/** Validation with the origin: the conditional request, and what its 304, or a HEAD's 200, does to what is stored. */
import { parseDate } from './dates.ts';
import { isStrong, isWeakMatch } from './entity-tag.ts';
import { FieldNames } from './field-names.ts';
import { currentAge } from './freshness.ts';
import { firstValue, type RawHeaders, withoutFields, withoutHopByHop } from './headers.ts';
import type { CacheOptions } from './options.ts';
import { type RequestHeaders, wholeSection } from './request-fields.ts';
import { storeResponse } from './store.ts';
import type { Exchange, RequestFacts, ResponseHead, Stored } from './stored.ts';

/** Whether there is anything to ask conditionally with. */
export function hasValidator(stored: Stored): boolean {
  return stored.etag !== undefined || stored.lastModifiedAt !== undefined;
}

/**
 * The request's fields for the origin with our conditions in place of the client's, and no Range. `others`: variants
 * whose tags are offered too; without a selected response they are all there is. RFC 9111 §4.3.1
 */
export function validationHeaders(
  headers: RequestHeaders,
  stored: Stored | undefined,
  others: readonly Stored[] = [],
): RawHeaders {
  const offered = stored === undefined ? others : [stored, ...others];
  if (offered.length === 0) return unconditionalHeaders(headers);
  const conditions: string[] = [];
  // Verbatim, weak ones too.
  const tags = new Set(offered.flatMap(({ etag }) => (etag === undefined ? [] : [etag])));
  if (tags.size > 0) conditions.push('If-None-Match', [...tags].join(', '));
  const lastModified = stored === undefined ? undefined : firstValue(stored.headers, 'last-modified');
  if (lastModified !== undefined && stored?.lastModifiedAt !== undefined) {
    conditions.push('If-Modified-Since', lastModified);
  }
  return [...unconditionalHeaders(headers), ...conditions];
}

/** The request's fields for a fetch of the whole representation, whatever the client asked for. */
export function unconditionalHeaders(headers: RequestHeaders): RawHeaders {
  return withoutFields(wholeSection(headers), CONDITION_FIELDS);
}

export type FreshenOutcome<T extends Stored = Stored> =
  /**
   * The response to answer with. `afterwards`: it replaces the stored one; or the stored one is to be deleted, since
   * the updated one may not be stored; or the stored one stays as it is, since only this request's answer is not for all.
   */
  | { readonly kind: 'freshened'; readonly stored: T; readonly afterwards: 'replace' | 'delete' | 'keep' }
  /** The 304 speaks of another representation: drop the stored one and fetch unconditionally. */
  | { readonly kind: 'mismatch' };

/**
 * Applies a 304. Everything that is not of `Stored`, such as the body's handle, stays as it is.
 * `request`: the one that the 304 answers, which for a variant's reuse gives the new secondary key.
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

/** The stored responses whose validators a request named. */
export interface Offered<T extends Stored = Stored> {
  /** The one that matches the request, by its `Vary` too. */
  readonly selected: T | undefined;
  /** Variants of other requests: only their tags were named. */
  readonly others: readonly T[];
}

/** The stored response that the 304 confirms; without a tag in it only an only one. RFC 9111 §4.3.4, docs/decisions/0455 */
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

/** The origin compares weakly (RFC 9110 §13.1.2), so a 304 to a request that named one tag confirms what has this tag. */
function isOnlyTag(offered: readonly Stored[], tag: string | undefined): boolean {
  return tag !== undefined && offered.every(({ etag }) => etag === undefined || etag === tag);
}

export type HeadOutcome<T extends Stored = Stored> =
  | { readonly kind: 'unchanged' }
  /** Replaces the stored one: with the HEAD's fields, or marked invalid. */
  | { readonly kind: 'updated'; readonly stored: T }
  | { readonly kind: 'delete' };

/** What a forwarded HEAD's response says about the stored GET response; `bodyBytes` is that one's length. RFC 9111 §4.3.5 */
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

/** What a failed validation was. */
export type ValidationFailure =
  /** No response: connection error, timeout, or something that is not HTTP. */
  | 'unreachable'
  /** One of `isErrorStatus`. */
  | 'errorStatus';

/** Statuses after which `stale-if-error` counts. RFC 5861 §4 */
export function isErrorStatus(status: number): boolean {
  return status === 500 || status === 502 || status === 503 || status === 504;
}

/**
 * Whether the stored response may stand in after a failed validation. If not: the error response itself, or 504 when
 * there is none. docs/decisions/0116
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
  // RFC 9111 §4.2.4: "disconnected", within the site's own limit
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

/** Fields that describe the stored bytes, which a 304 does not bring. RFC 9111 §3.2 */
const BODY_FIELDS = new FieldNames(['content-encoding', 'content-length', 'content-range']);

const BODY_FIELDS_AND_TAG = BODY_FIELDS.with('etag');

/** RFC 9111 §4.3.4; a 304 without any validator answers the one that was asked about. Among several tags `variantOf304` has decided. */
function identifies(headers304: RawHeaders, stored: Stored, now: number): boolean {
  const tag = firstValue(headers304, 'etag');
  if (tag !== undefined) {
    return stored.etag === undefined ? !isStrong(tag) : isWeakMatch(tag, stored.etag);
  }
  const lastModified = firstValue(headers304, 'last-modified');
  if (lastModified === undefined || stored.lastModifiedAt === undefined) return true;
  return parseDate(lastModified, now) === stored.lastModifiedAt;
}

/** RFC 9111 §4.3.5: every validator that the HEAD's response has, and its length, must be the stored one's. */
function isSameRepresentation(headers: RawHeaders, stored: Stored, completeBytes: number): boolean {
  const tag = firstValue(headers, 'etag');
  if (tag !== undefined && tag !== stored.etag) return false;
  const lastModified = firstValue(headers, 'last-modified');
  if (lastModified !== undefined && lastModified !== firstValue(stored.headers, 'last-modified')) return false;
  const length = firstValue(headers, 'content-length');
  return length === undefined || Number(length) === completeBytes;
}

/** A strong tag in answer to a weak one may be that of another coding: the bytes that are stored keep theirs. */
function isStrengthened({ etag }: Stored, headers: RawHeaders): boolean {
  return etag !== undefined && !isStrong(etag) && isStrong(firstValue(headers, 'etag') ?? '');
}

/** RFC 9111 §3.2: every field of the update replaces the stored ones of its name, and new ones are added. */
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
  // The client's own directives were for the decision, not for what the origin now says.
  const whole = { ...request, method: 'GET', hasBody: false, directives: undefined };
  const outcome = storeResponse(whole, response, exchange, options, invalidatedAt);
  if (outcome.kind === 'store') {
    return { kind: 'freshened', stored: { ...stored, ...outcome.stored }, afterwards: 'replace' };
  }
  const once = { ...stored, headers: withoutFields(merged, AGE), responseAt: exchange.responseAt, initialAgeMs: 0 };
  // RFC 9111 §3.5: that this client authenticated says nothing about the response stored for others.
  return { kind: 'freshened', stored: once, afterwards: outcome.reason === 'authorization' ? 'keep' : 'delete' };
}

const AGE = new FieldNames(['age']);
