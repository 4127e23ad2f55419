/** A summary of all edges, for operators and metrics. Pure. */
import type { EdgeView } from './edge.ts';
import { EDGE_STATES, type EdgeState } from './edge-state.ts';

export interface StateCount {
  readonly group: string;
  readonly state: EdgeState;
  readonly count: number;
}

/** A control that shares its PostgreSQL with others. */
export interface ControlStatus {
  readonly id: string;
  readonly build: string;
  readonly seenAt: number;
  /** Names of the leases that it holds. */
  readonly leases: readonly string[];
}

export interface FleetStatus {
  /** Controls that were seen within the last 15 s; empty on SQLite. */
  readonly controls: readonly ControlStatus[];
  /** Whether a standby confirms commits of PostgreSQL; `undefined` on SQLite. */
  readonly isSynchronous: boolean | undefined;
  readonly headRevision: number;
  /** Sorted by group, then as in `EDGE_STATES`; states without an edge are left out. */
  readonly counts: readonly StateCount[];
  /** Revisions that the last of the ready edges is behind. */
  readonly lagRevisions: number;
  /** Age of the oldest change that it has not applied; 0: there is none. */
  readonly lagSeconds: number;
}

export function countStates(edges: readonly Pick<EdgeView, 'group' | 'state'>[]): readonly StateCount[] {
  const groups = Map.groupBy(edges, ({ group }) => group);
  return [...groups.keys()].sort().flatMap((group) =>
    EDGE_STATES.flatMap((state) => {
      const count = (groups.get(group) ?? []).filter((edge) => edge.state === state).length;
      return count === 0 ? [] : [{ group, state, count }];
    }),
  );
}

/** The lowest revision of a ready edge; the head if none is ready. */
export function lowestRevision(
  edges: readonly Pick<EdgeView, 'state' | 'appliedRevision'>[],
  headRevision: number,
): number {
  const ready = edges.filter(({ state }) => state === 'ready').map(({ appliedRevision }) => appliedRevision);
  return Math.min(headRevision, ...ready);
}
