/**
 * Lists of rules that a customer orders himself. A domain's settings, its specification for edges and the interface have
 * them alike.
 */

/** The kinds of paths. The order is that of the interface, and of compiled rows in memory. */
export const POLICY_MATCHES = ['prefix', 'suffix', 'regex'] as const;

export type PolicyMatch = (typeof POLICY_MATCHES)[number];

/** The paths that a rule is about: a cache policy, or one of the lists below. */
export interface PathRule {
  readonly match: PolicyMatch;
  /** Content as written. */
  readonly content: string;
}

/** How many requests one client may make. The first limit whose path matches counts. docs/decisions/0635 */
export interface RateLimit extends PathRule {
  readonly requests: number;
  /** Period in which a client that has none left gets that many requests back. */
  readonly seconds: number;
  /** Requests that a client may make at once. */
  readonly burst: number;
}

export const REDIRECT_STATUSES = [301, 302, 307, 308] as const;

/** Requests that are sent elsewhere. The first rule whose path matches decides. docs/decisions/0638 */
export interface RedirectRule extends PathRule {
  /** An http or https URL, or a path of the same host. */
  readonly target: string;
  readonly status: (typeof REDIRECT_STATUSES)[number];
  /** Whether the request's query is appended to the target. */
  readonly keepsQuery: boolean;
}

export const HEADER_ACTIONS = ['set', 'add', 'remove'] as const;

/** A change of an answer's header fields. docs/decisions/0638 */
export interface HeaderRule {
  /** `set` replaces all fields of the name, `add` leaves them. */
  readonly action: (typeof HEADER_ACTIONS)[number];
  readonly name: string;
  /** Empty with `remove`. */
  readonly value: string;
}

export interface RuleLists {
  readonly rateLimits: readonly RateLimit[];
  readonly redirects: readonly RedirectRule[];
  /** Applied in their order. */
  readonly responseHeaders: readonly HeaderRule[];
}

export const NO_RULES: RuleLists = { rateLimits: [], redirects: [], responseHeaders: [] };
