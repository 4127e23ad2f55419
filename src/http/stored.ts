/**
 * The shapes that the cache core passes around: a request's facts, a response's head, a stored response. Plain data
 * without the body: a store extends `Stored` with its own handle on the bytes, and the core's functions keep it.
 */
import type { Directives } from './cache-control.ts';
import type { RawHeaders } from './headers.ts';
import type { RequestHeaders } from './request-fields.ts';

/** A request, with everything that cache decisions look at read once. Made by `readRequestFacts`. */
export interface RequestFacts {
  readonly method: string;
  /** Absolute URI of the target, as the client wrote path and query: `http://www.example.com/a?b`. */
  readonly uri: string;
  /** The fields that `Vary` speaks of: as they go on to an origin. Made at the first call, which few requests need. */
  readonly sentHeaders: () => RequestHeaders;
  /** The request has content (`Content-Length` above 0, or `Transfer-Encoding`). */
  readonly hasBody: boolean;
  readonly hasAuthorization: boolean;
  /** `Cache-Control`; a `Pragma: no-cache` without it counts as `no-cache`. Absent fields: `undefined`. */
  readonly directives: Directives | undefined;
  /** All lines joined. */
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
  /** `If-Match` or `If-Unmodified-Since` is present: only the origin can answer. */
  readonly hasOriginCondition: boolean;
  readonly ifRange: string | undefined;
  /** Value of `Range`; `undefined` also on any method but GET, where it has no meaning. */
  readonly range: string | undefined;
}

/** A final response's start line and header section as the origin sent it. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
}

/** When the request was sent and when the response's head had arrived, epoch milliseconds. RFC 9111 §4.2.3 */
export interface Exchange {
  readonly requestAt: number;
  readonly responseAt: number;
}

/** The part of a representation that a stored 206 holds, as in `Content-Range`: inclusive positions, complete length. */
export interface PartialRange {
  readonly first: number;
  readonly last: number;
  readonly complete: number;
}

/**
 * A stored response, immutable and replaced as a whole; safe to write as JSON. Instants are epoch milliseconds,
 * spans are milliseconds, absent is `undefined`.
 */
export interface Stored {
  readonly status: number;
  readonly reason: string;
  /** End-to-end fields only; `Date` always, `Age` never. `Content-Length` as the origin sent it. */
  readonly headers: RawHeaders;
  /** Lower-case, sorted, unique field names of `Vary`; empty: one variant serves all. */
  readonly vary: readonly string[];
  /** The normalized values of those fields in the request that fetched it; equal keys match. */
  readonly varyKey: string;
  /** The fields that `Vary` names, as the request had them. */
  readonly varyHeaders: RawHeaders;
  /** `ETag` as sent, weak or strong, even when malformed. */
  readonly etag: string | undefined;
  /** `undefined`: the whole representation. */
  readonly range: PartialRange | undefined;
  /** A purge or an invalidation at or after this instant makes it absent. */
  readonly requestAt: number;
  readonly responseAt: number;
  /** `Date`, or `responseAt` where that is missing or invalid. */
  readonly dateAt: number;
  readonly lastModifiedAt: number | undefined;
  /** Age at `responseAt`. */
  readonly initialAgeMs: number;
  /** Stale once the age is this; it counts from the same moment as `initialAgeMs`. With a policy's own lifetime it includes the age that the response had when it was fetched. */
  readonly lifetimeMs: number;
  /** 0: no such window. */
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number | undefined;
  /** `no-cache`: never used without successful validation. */
  readonly mustValidate: boolean;
  /** Never served stale: `no-cache`, `must-revalidate`, `proxy-revalidate`, or `s-maxage` without an explicit `stale-…`. */
  readonly forbidsStale: boolean;
  /** A HEAD response showed that it is outdated: validated before any use. */
  readonly isInvalid: boolean;
  /** `no-transform`: the content may not be recoded. RFC 9111 §5.2.2.6 */
  readonly noTransform: boolean;
}
