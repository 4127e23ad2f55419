/** Edges that fetch through others: resources of the kind `tier`, keyed by the id of an edge. docs/decisions/0732 */

export const TIER_KIND = 'tier';

/** The place of an edge. Only edges of groups that have a parent, or are one, have a resource. */
export interface EdgeTier {
  readonly group: string;
  /** Group whose edges it fetches through; absent: it fetches from origins. */
  readonly parent?: string;
  /** `host:port` at which edges of the groups below reach it; absent: it does not listen for them. */
  readonly address?: string;
  /** Serial numbers of its certificates, hex; empty with certificates of the operator's own authority. */
  readonly serials: readonly string[];
}

/** Form of `EdgeTier.address`: a host or an address in brackets, and a port. */
export const TIER_ADDRESS = /^(?:[\w.-]{1,253}|\[[\da-fA-F:.]{2,45}\]):\d{1,5}$/;
export const MAX_TIER_SERIALS = 16;
