/** How far a domain's last change has come at each edge. Pure. */
import { hasApplied } from './acknowledgement.ts';
import type { KnownEdge } from './edge.ts';
import { holdingEdges } from './edge-state.ts';

/**
 * `away`: the edge has not applied the change, and nothing waits for it: it is silent, or out of service while others
 * are in it.
 */
export type PropagationState = 'waiting' | 'done' | 'refused' | 'away';

export interface EdgePropagation {
  readonly edge: string;
  readonly appliedRevision: number;
  readonly state: PropagationState;
  readonly reportedAt: number;
  /** Why the edge refuses the change; else empty. */
  readonly error: string;
}

interface ChangedDomain {
  readonly name: string;
  readonly settingRevision: number;
}

/** `edges`: those that serve the domain. Edges that are not done come first. */
export function propagationOf(domain: ChangedDomain, edges: readonly KnownEdge[]): readonly EdgePropagation[] {
  const awaited = new Set(holdingEdges(edges));
  return edges
    .map((edge): EdgePropagation => {
      const { edge: name, appliedRevision, reportedAt } = edge;
      const refusal = edge.rejected.find(({ kind, key }) => kind === 'site' && key === domain.name);
      const site = { kind: 'site', key: domain.name, revision: domain.settingRevision };
      const state = hasApplied(edge, site) ? 'done' : notDone(awaited.has(edge), refusal !== undefined);
      return {
        edge: name,
        appliedRevision,
        state,
        reportedAt,
        error: state === 'refused' ? (refusal?.error ?? '') : '',
      };
    })
    .sort((one, other) => ORDER[one.state] - ORDER[other.state]);
}

function notDone(isAwaited: boolean, isRefused: boolean): PropagationState {
  if (!isAwaited) return 'away';
  return isRefused ? 'refused' : 'waiting';
}

const ORDER: Readonly<Record<PropagationState, number>> = { refused: 0, waiting: 1, away: 2, done: 3 };
