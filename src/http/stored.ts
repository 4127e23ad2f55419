/**
 * Data types of the cache core: request facts, response heads, stored responses. They exclude the body: a store extends
 * `Stored` with its own handle on the bytes, which the core's functions preserve.
 */
import type { Directives } from './cache-control.ts';
import type { RawHeaders } from './headers.ts';
import type { RequestHeaders } from './request-fields.ts';

/** A request, with all properties that cache decisions need. Created by `readRequestFacts`. */
export interface RequestFacts {
  readonly method: string;
  /** Absolute URI of the target, as the client wrote path and query: `http://www.example.com/a?b`. */
  readonly uri: string;
  /** The fields as forwarded to an origin, for `Vary`. Computed on the first call, which few requests need. */
  readonly sentHeaders: () => RequestHeaders;
  /** The request has content (`Content-Length` above 0, or `Transfer-Encoding`). */
  readonly hasBody: boolean;
  readonly hasAuthorization: boolean;
  /** `Cache-Control`; without it, `Pragma: no-cache` counts as `no-cache`. `undefined` if neither is present. */
  readonly directives: Directives | undefined;
  /** All lines joined. */
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
  /** `If-Match` or `If-Unmodified-Since` is present, so only the origin can answer. */
  readonly hasOriginCondition: boolean;
  readonly ifRange: string | undefined;
  /** Value of `Range`; `undefined` for methods other than GET, where it has no meaning. */
  readonly range: string | undefined;
}

/** A final response's start line and header section as the origin sent it. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
}

/** When the request was sent and when the response head had arrived, in epoch milliseconds. RFC 9111 §4.2.3 */
export interface Exchange {
  readonly requestAt: number;
  readonly responseAt: number;
}

/**
 * The part of a representation that a stored 206 holds, as in `Content-Range`: inclusive positions and complete length.
 */
export interface PartialRange {
  readonly first: number;
  readonly last: number;
  readonly complete: number;
}

/**
 * A stored response: immutable, replaced as a whole, and safe to write as JSON. Instants are epoch milliseconds, spans
 * are milliseconds, absent is `undefined`.
 */
export interface Stored {
  readonly status: number;
  readonly reason: string;
  /** End-to-end fields only; `Date` always, `Age` never. `Content-Length` as the origin sent it. */
  readonly headers: RawHeaders;
  /** Field names of `Vary` in lower case, sorted and unique; empty: one variant serves all requests. */
  readonly vary: readonly string[];
  /** Normalized values of these fields in the original request; equal keys match. */
  readonly varyKey: string;
  /** The fields named by `Vary`, as in the original request. */
  readonly varyHeaders: RawHeaders;
  /** `ETag` as sent, weak or strong, even when malformed. */
  readonly etag: string | undefined;
  /** `undefined` for a complete representation. */
  readonly range: PartialRange | undefined;
  /** The response is absent if it was purged or invalidated at or after this instant. */
  readonly requestAt: number;
  readonly responseAt: number;
  /** `Date`, or `responseAt` if that is missing or invalid. */
  readonly dateAt: number;
  readonly lastModifiedAt: number | undefined;
  /** Age at `responseAt`. */
  readonly initialAgeMs: number;
  /**
   * Age at which the response becomes stale, counted like `initialAgeMs`. With an overriding policy it includes the age
   * that the response had when it was fetched.
   */
  readonly lifetimeMs: number;
  /** 0: no window. */
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number | undefined;
  /** `no-cache`: never used without successful validation. */
  readonly mustValidate: boolean;
  /**
   * Never served stale, because of `no-cache`, `must-revalidate`, `proxy-revalidate`, or `s-maxage` without an explicit
   * `stale-…`.
   */
  readonly forbidsStale: boolean;
  /** A HEAD response showed that it is outdated: it must be validated before use. */
  readonly isInvalid: boolean;
  /** `no-transform`: the content must not be recoded. RFC 9111 §5.2.2.6 */
  readonly noTransform: boolean;
}
