/** What control has ordered of an edge, as the edge learns it by the feed. */

/** Kind of these resources, keyed by the edge's id. An edge without one has no orders. */
export const EDGE_KIND = 'edge';

export interface EdgeOrders {
  /** The edge serves on, and its health page turns viewers away. */
  readonly isDraining: boolean;
}
