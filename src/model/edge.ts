/** An edge (a machine) as control knows it: what it reported last. */

/** A resource that an edge could not apply; it keeps the version before. */
export interface Rejection {
  readonly kind: string;
  readonly key: string;
  readonly revision: number;
  readonly error: string;
}

/** An origin in use at an edge that its probes do not reach. */
export interface OriginTrouble {
  /** See `sites/origin-keys.ts`. */
  readonly key: string;
  /** `forbidden`: the edge does not connect to any of its addresses. */
  readonly state: 'down' | 'forbidden';
}

export interface EdgeReport {
  readonly edge: string;
  /** The last revision whose every change is in force there, or refused and named in `rejected`. */
  readonly appliedRevision: number;
  readonly rejected: readonly Rejection[];
  readonly origins: readonly OriginTrouble[];
  readonly build: string;
  readonly startedAt: number;
  /** When control received it, by control's clock. */
  readonly reportedAt: number;
}
