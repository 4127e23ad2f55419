/** What a site chooses about caching. The edge makes its `CacheOptions` of it, together with the site's type. */

export interface SiteCache {
  /**
   * A response with `Set-Cookie`: `bypass` never stores it; `store` keeps it, cookie included, when its freshness is
   * explicit; `strip` stores it without the cookie.
   */
  readonly setCookie: 'bypass' | 'store' | 'strip';
  /** Whether a client's `no-cache`, `no-store`, `max-age` and `min-fresh` count. */
  readonly requestDirectives: boolean;
  /** Longest heuristic lifetime in seconds; 0 turns heuristics off. */
  readonly heuristicCapSeconds: number;
  /** How long past its expiry a response may stand in for an origin that cannot be reached, in seconds; 0 = never. */
  readonly staleCapSeconds: number;
  /** Whether values of varying fields that mean the same are one variant: `en, de` and `de, en`. */
  readonly normalizeVary: boolean;
  /** Whether a stored response in the client's one preferred language is used without asking the origin. */
  readonly matchLanguage: boolean;
}

export const DEFAULT_SITE_CACHE: SiteCache = {
  setCookie: 'bypass',
  requestDirectives: false,
  heuristicCapSeconds: 3600,
  staleCapSeconds: 24 * 3600,
  normalizeVary: true,
  matchLanguage: false,
};

/** A year. */
export const MAX_HEURISTIC_CAP_SECONDS = 365 * 24 * 3600;
/** 30 days: nothing is kept longer. */
export const MAX_STALE_CAP_SECONDS = 30 * 24 * 3600;
