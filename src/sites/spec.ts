/**
 * A domain as it travels to the edges: plain JSON, made by `api/change.ts`, carried by `feed/`, compiled by
 * `compile.ts`. A new member must have a meaning when it is absent: edges of the previous release send none.
 */
import type { SiteCache } from './site-cache.ts';

export interface SiteSpec {
  /** The domain's id: a number that is never reused; cache keys and statistics hang on it, never on the name. */
  readonly id: number;
  /** Lower-case ASCII; `*.example.com` covers any depth below, never the apex. */
  readonly name: string;
  readonly type: 'static' | 'download' | 'video' | 'live' | 'dynamic';
  /** Anything but `open` is refused at the edge with 403, without contact to an origin. */
  readonly state: 'open' | 'closed' | 'rejected' | 'disabled';
  readonly origins: OriginsSpec;
  /** Absent, or a member of it absent: the defaults of `site-cache.ts`. */
  readonly cache?: Partial<SiteCache>;
}

export interface OriginsSpec {
  /** `follow`: the client's scheme. */
  readonly protocol: 'http' | 'https' | 'follow';
  readonly primary: readonly OriginSpec[];
  /** Asked only when no primary is usable. */
  readonly backup: readonly OriginSpec[];
  /** Host header and SNI; empty means the requested host (which for an ordinary domain is its name). */
  readonly hostHeader: string;
  /** Path and query of the health probe; empty means none. */
  readonly probePath: string;
}

export interface OriginSpec {
  /** ASCII name, or an IP literal without brackets. */
  readonly host: string;
  /** Absent: the scheme's default. */
  readonly port?: number;
}
