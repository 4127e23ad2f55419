/** Orders of control to an edge, which reach it by the feed. */

/** Kind of these resources, keyed by the edge's id. An edge without one has no orders. */
export const EDGE_KIND = 'edge';

export interface EdgeOrders {
  /** The edge keeps serving, and its health page asks for no more viewers. */
  readonly isDraining: boolean;
}
