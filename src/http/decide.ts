/**
 * Decides what to do with a request, given the stored response that matches it, if any: combines freshness, the
 * client's directives and the response's restrictions. RFC 9111 §4
 */
import { coversRequest, isPrefix } from './coverage.ts';
import { currentAge, isFresh } from './freshness.ts';
import type { CacheOptions } from './options.ts';
import type { RequestFacts, Stored } from './stored.ts';

/** Why a request bypasses the cache: no stored response is used, and the response is not stored. */
export type BypassReason =
  /** Neither GET nor HEAD. */
  | 'method'
  /** A GET or HEAD with content. */
  | 'requestBody'
  /** `If-Match` or `If-Unmodified-Since`. */
  | 'precondition'
  /** The client's `no-store`, if the site honours it. */
  | 'requestNoStore';

export type Decision<T extends Stored = Stored> =
  /** Fresh: answer from it. */
  | { readonly kind: 'hit'; readonly stored: T }
  /** Stale, but usable now. `shouldRevalidate`: start one validation in the background. */
  | { readonly kind: 'stale'; readonly stored: T; readonly shouldRevalidate: boolean }
  /** Validate with the origin first, conditionally if `hasValidator(stored)`. */
  | { readonly kind: 'revalidate'; readonly stored: T }
  /** A fresh prefix of the representation is stored: fetch the rest (`completionHeaders`). */
  | { readonly kind: 'complete'; readonly stored: T }
  | { readonly kind: 'miss' }
  | { readonly kind: 'bypass'; readonly reason: BypassReason }
  /** The client accepts only a cached answer, and there is none: 504. */
  | { readonly kind: 'gatewayTimeout' };

/**
 * `stored`: the result of `selectVariant`, from which the caller has excluded purged responses. After a `miss`, a
 * stored part that does not cover the request stays stored.
 */
export function decide<T extends Stored>(
  request: RequestFacts,
  stored: T | undefined,
  now: number,
  options: CacheOptions,
): Decision<T> {
  const reason = bypassReason(request, options);
  if (reason !== undefined) return { kind: 'bypass', reason };
  const decision = decideCached(request, stored, now, options);
  const needsOrigin = decision.kind !== 'hit' && decision.kind !== 'stale';
  // RFC 9111 §5.2.1.7
  return needsOrigin && request.directives?.onlyIfCached === true ? { kind: 'gatewayTimeout' } : decision;
}

function bypassReason(request: RequestFacts, options: CacheOptions): BypassReason | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return 'method';
  if (request.hasBody) return 'requestBody'; // RFC 9110 §9.3.1: content in a GET has no defined meaning for a cache
  if (request.hasOriginCondition) return 'precondition'; // RFC 9111 §4.3.2: both are for the origin
  if (options.requestDirectives && request.directives?.noStore === true) return 'requestNoStore'; // RFC 9111 §5.2.1.5
  return undefined;
}

function decideCached<T extends Stored>(
  request: RequestFacts,
  stored: T | undefined,
  now: number,
  options: CacheOptions,
): Decision<T> {
  if (stored === undefined) return { kind: 'miss' };
  if (!coversRequest(request, stored)) {
    // RFC 9111 §3.3: a fresh prefix may be completed.
    const canComplete = isPrefix(stored) && isWholeGet(request) && isUsable(request, stored, now, options);
    return canComplete ? { kind: 'complete', stored } : { kind: 'miss' };
  }
  if (isUsable(request, stored, now, options)) return { kind: 'hit', stored };
  return staleOrRevalidate(request, stored, now, options);
}

/** Whether the response is fresh, also by the client's directives. */
function isUsable(request: RequestFacts, stored: Stored, now: number, options: CacheOptions): boolean {
  if (stored.mustValidate || stored.isInvalid) return false; // RFC 9111 §5.2.2.4, §4.3.5
  if (!isFresh(stored, now)) return false;
  return !options.requestDirectives || meetsWishes(request, stored, now);
}

function meetsWishes(request: RequestFacts, stored: Stored, now: number): boolean {
  const wishes = request.directives;
  if (wishes === undefined) return true;
  if (wishes.noCache) return false; // RFC 9111 §5.2.1.4
  const ageMs = currentAge(stored, now);
  // RFC 9111 §5.2.1.1; 0 requires validation even within one clock tick
  if (wishes.maxAge !== undefined && (wishes.maxAge === 0 || ageMs > wishes.maxAge * 1000)) return false;
  return wishes.minFresh === undefined || stored.lifetimeMs - ageMs >= wishes.minFresh * 1000; // RFC 9111 §5.2.1.3
}

function staleOrRevalidate<T extends Stored>(
  request: RequestFacts,
  stored: T,
  now: number,
  options: CacheOptions,
): Decision<T> {
  const revalidate: Decision<T> = { kind: 'revalidate', stored };
  if (stored.forbidsStale || stored.isInvalid) return revalidate; // RFC 9111 §4.2.4
  const staleMs = currentAge(stored, now) - stored.lifetimeMs;
  // Still fresh: only the client's directives led here, and they exclude stale responses.
  if (staleMs < 0) return revalidate;
  if (options.requestDirectives && wantsNothingStale(request)) return revalidate;
  const maxStale = request.directives?.maxStale;
  const isAccepted = maxStale !== undefined && staleMs <= maxStale * 1000; // RFC 9111 §5.2.1.2
  const isInWindow = stored.staleWhileRevalidateMs > 0 && staleMs <= stored.staleWhileRevalidateMs; // RFC 5861 §3
  if (!isAccepted && !isInWindow) return revalidate;
  return { kind: 'stale', stored, shouldRevalidate: isInWindow };
}

/** RFC 9111 §5.2.1.1: max-age without max-stale also means "nothing stale". */
function wantsNothingStale(request: RequestFacts): boolean {
  const wishes = request.directives;
  if (wishes === undefined) return false;
  return (
    wishes.noCache || wishes.minFresh !== undefined || (wishes.maxAge !== undefined && wishes.maxStale === undefined)
  );
}

function isWholeGet(request: RequestFacts): boolean {
  return request.method === 'GET' && request.range === undefined;
}
