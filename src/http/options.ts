/** Options of the cache core that a site may choose. Plain values, compiled once per site. */

export interface CacheOptions {
  /**
   * Responses with `Set-Cookie`: `bypass` never stores them; `store` keeps them, cookie included, if their freshness is
   * explicit; `strip` stores them without the cookie, which only the client that caused the fetch receives. RFC 9111
   * §7.3
   */
  readonly setCookie: 'bypass' | 'store' | 'strip';
  /**
   * Whether a client's `no-cache`, `no-store`, `max-age` and `min-fresh` are honoured. `only-if-cached` and `max-stale`
   * always are.
   */
  readonly requestDirectives: boolean;
  /** Longest heuristic lifetime in seconds; 0 turns heuristics off. */
  readonly heuristicCapSeconds: number;
  /** Limit of variants per key. */
  readonly maxVariants: number;
  /** How long past its expiry a response may be served if the origin cannot be reached, in seconds; 0: never. */
  readonly staleCapSeconds: number;
  /** Lifetime in seconds by status (below 500) for responses without explicit freshness. Empty: none. */
  readonly defaultLifetimes: ReadonlyMap<number, number>;
  /**
   * Whether the site has policies, for this object or others. If so, a 5xx is never stored, and `public` alone makes
   * nothing cacheable. Edge rule 4
   */
  readonly hasPolicies: boolean;
  /** Lifetime set for this object; `undefined`: the response's own, or a heuristic one. */
  readonly policy: LifetimePolicy | undefined;
  /** Whether `en, de` and `de, en` are one variant. RFC 9110 §12.5.4 gives the order no meaning. */
  readonly normalizeVary: boolean;
  /** Whether a stored response in the client's single preferred language is used without asking the origin. */
  readonly matchLanguage: boolean;
}

export interface LifetimePolicy {
  /** > 0 */
  readonly seconds: number;
  /**
   * True: overrides the response's lifetime, but never no-store, no-cache or private. False: applies if the response
   * has no lifetime.
   */
  readonly overrides: boolean;
}
