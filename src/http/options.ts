/** What a site may choose about the cache core. Plain values, compiled once per site and handed to every decision. */

export interface CacheOptions {
  /**
   * A response with `Set-Cookie`: `bypass` never stores it; `store` keeps it, cookie included, when its freshness is
   * explicit; `strip` stores it without the cookie (only whoever caused the fetch receives it). RFC 9111 §7.3
   */
  readonly setCookie: 'bypass' | 'store' | 'strip';
  /**
   * Whether a client's `no-cache`, `no-store`, `max-age`, `min-fresh` count. `only-if-cached` and `max-stale` always
   * do.
   */
  readonly requestDirectives: boolean;
  /** Longest heuristic lifetime in seconds; 0 turns heuristics off. */
  readonly heuristicCapSeconds: number;
  /** Most variants kept for one key. */
  readonly maxVariants: number;
  /** How long past its expiry a response may stand in for an origin that cannot be reached, in seconds; 0 = never. */
  readonly staleCapSeconds: number;
  /** Lifetime in seconds by status (below 500) for a response without explicit freshness. Empty: none. */
  readonly defaultLifetimes: ReadonlyMap<number, number>;
  /**
   * Whether the site has policies, for this object or others: a 5xx is then never stored, and `public` alone makes
   * nothing cacheable. Edge rule 4
   */
  readonly hasPolicies: boolean;
  /** Lifetime set for this object; `undefined`: that of the response, or the heuristics above. */
  readonly policy: LifetimePolicy | undefined;
  /** Whether `en, de` and `de, en` are one variant. RFC 9110 §12.5.4 leaves the order without meaning. */
  readonly normalizeVary: boolean;
  /** Whether a stored response in the client's one preferred language is used without asking the origin. */
  readonly matchLanguage: boolean;
}

export interface LifetimePolicy {
  /** > 0 */
  readonly seconds: number;
  /**
   * True: instead of what the response says, though never against no-store, no-cache or private; false: where it says
   * nothing.
   */
  readonly overrides: boolean;
}
