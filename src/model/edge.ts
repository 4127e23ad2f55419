/** An edge (a machine) as control knows it: what it reported last. */
import type { CheckResult } from './edge-health.ts';
import type { EdgePlace } from './edge-place.ts';
import type { EdgeHold, EdgeState, OwnState } from './edge-state.ts';
import type { FeedPosition } from './feed-position.ts';
import type { SinkTrouble } from './line-sink.ts';

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
  /** Absent in reports of releases that do not check themselves. */
  readonly vitals?: EdgeVitals;
}

/** What an edge says of itself. */
export interface EdgeVitals {
  readonly state: OwnState;
  /** Words for what its release can do, which control may need to know. */
  readonly features: readonly string[];
  /** How far its clock is ahead of control's; absent: not known yet. */
  readonly clockOffsetMs?: number;
  readonly load: EdgeLoad;
  readonly health: readonly CheckResult[];
  /** Sinks that it has trouble with; absent in reports of earlier releases. */
  readonly sinks?: readonly SinkTrouble[];
  /** `host:port` at which other edges reach it; absent: it does not listen for them. */
  readonly tierAddress?: string;
  /** Absent if DNS is not to hand the edge out. */
  readonly place?: EdgePlace;
}

/** Averages over the last seconds. */
export interface EdgeLoad {
  /** Share of the machine's processors in use, 0 to 1. */
  readonly cpu: number;
  /** Sent to viewers, megabits a second. */
  readonly mbit: number;
  /** Requests of viewers a second. */
  readonly requests: number;
  /** Requests of viewers that are being served. */
  readonly underWay: number;
  /** Share of the file system of the cache in use, 0 to 1. */
  readonly cacheDisk: number;
}

/** `appliedRevision`: the last revision whose every change is in force there, or refused and named in `rejected`. */
export interface EdgeReport extends Omit<EdgeStatus, 'at' | 'vitals'> {
  /** When control received it, by control's clock. */
  readonly reportedAt: number;
  /** Absent for an edge of control's machine, which serves every domain. */
  readonly group?: string;
}

/** A report, and whether changes wait for this edge. */
export interface KnownEdge extends EdgeReport {
  readonly hold: EdgeHold;
}

/** An edge as operators see it. */
export interface EdgeView extends EdgeReport {
  readonly state: EdgeState;
  /** State that control has noticed last; empty: none yet. */
  readonly notedState: EdgeState | '';
  /** When control first noticed the state; `undefined`: not yet. */
  readonly stateAt: number | undefined;
  readonly group: string;
  readonly labels: Readonly<Record<string, string>>;
  /** When it was last heard of; `undefined`: never. */
  readonly seenAt: number | undefined;
  readonly drainAt: number | undefined;
  /** Whether its own operator drains it, at the edge. */
  readonly drainsItself: boolean;
  readonly features: readonly string[];
  readonly clockOffsetMs: number | undefined;
  readonly load: EdgeLoad | undefined;
  readonly health: readonly CheckResult[];
  readonly sinks: readonly SinkTrouble[];
}
