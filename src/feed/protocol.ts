/**
 * The one protocol between control and edges. GET /edge/v1/stream?epoch=E&revision=R is an SSE stream of deltas,
 * GET /edge/v1/snapshot gives everything as zstd NDJSON, POST /edge/v1/status reports what is in force.
 */

export type ResourceKind = 'site';

/** One resource's newest state. A delete carries no body. */
export type ResourceChange =
  | {
      readonly kind: ResourceKind;
      readonly key: string;
      readonly revision: number;
      readonly op: 'put';
      readonly body: unknown;
    }
  | { readonly kind: ResourceKind; readonly key: string; readonly revision: number; readonly op: 'delete' };

/** Applied only by an edge whose own revision is `from`. */
export interface Delta {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly ResourceChange[];
}

/** First line of a snapshot; as many `put` lines as `count` follow. `hash` is SHA-256 over those lines, hex. */
export interface SnapshotHead {
  readonly epoch: string;
  readonly revision: number;
  readonly count: number;
  readonly hash: string;
}

export interface Rejection {
  readonly kind: ResourceKind;
  readonly key: string;
  readonly revision: number;
  readonly error: string;
}

/** What an edge reports every 5 s and after each change. An edge reports nothing before its first snapshot is applied. */
export interface EdgeStatus {
  readonly edge: string;
  readonly epoch: string;
  readonly appliedRevision: number;
  readonly rejected: readonly Rejection[];
  readonly build: string;
  readonly startedAt: number;
}
