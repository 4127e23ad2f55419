/** An edge (a machine) as control knows it: what it reported last. */
import type { FeedPosition } from './feed-position.ts';

/** A resource that an edge could not apply; it keeps the version before. */
export interface Rejection {
  readonly kind: string;
  readonly key: string;
  readonly revision: number;
  readonly error: string;
}

/** An origin in use at an edge that its probes do not reach. */
export interface OriginTrouble {
  /** See `sites/origin-address.ts`. */
  readonly key: string;
  /** `forbidden`: the edge does not connect to any of its addresses. */
  readonly state: 'down' | 'forbidden';
}

/** What an edge reports every 5 s and after each change. An edge reports nothing before its first snapshot is applied. */
export interface EdgeStatus {
  readonly edge: string;
  /** The set that every worker of the edge runs. */
  readonly at: FeedPosition;
  /** `at.revision`, or a lower one when not all refusals fit the report. */
  readonly appliedRevision: number;
  readonly rejected: readonly Rejection[];
  readonly build: string;
  readonly startedAt: number;
  readonly origins: readonly OriginTrouble[];
}

/** `appliedRevision`: the last revision whose every change is in force there, or refused and named in `rejected`. */
export interface EdgeReport extends Omit<EdgeStatus, 'at'> {
  /** When control received it, by control's clock. */
  readonly reportedAt: number;
}
