/** Edges that cannot apply settings, whose cache disk is nearly full, or that cannot send to a sink. Their states are events of the fleet. */
import type { Db } from '#db/open.ts';
import { listEdgeViews } from '#db/tables/edges.ts';
import type { Observation } from '#model/condition.ts';
import type { EdgeView } from '#model/edge.ts';
import { NEARLY_FULL_SHARE } from '#model/edge-health.ts';
import type { EdgeState } from '#model/edge-state.ts';
import type { Observer } from './observer.ts';

/** States in which an edge's last report says nothing of the present. */
const SILENT: ReadonlySet<EdgeState> = new Set(['enrolled', 'away', 'revoked', 'removed']);
const MAX_ERROR_CHARS = 200;

export function observeEdges(db: Db, everyMs: number): Observer {
  return {
    kinds: ['rejection', 'disk', 'sink'],
    owner: '',
    everyMs,
    async observe(now) {
      const edges = (await listEdgeViews(db.query, now)).filter(({ state }) => !SILENT.has(state));
      return edges.flatMap((edge) => [...judgeRejections(edge), ...judgeCacheDisk(edge), ...judgeSinks(edge)]);
    },
  };
}

function judgeRejections({ edge, rejected }: EdgeView): readonly Observation[] {
  const [first] = rejected;
  if (first === undefined) return [];
  const data = {
    count: rejected.length,
    resource: `${first.kind} ${first.key}`,
    error: first.error.slice(0, MAX_ERROR_CHARS),
  };
  return [{ kind: 'rejection', key: edge, target: targetOf(edge), level: 0, data }];
}

function judgeCacheDisk({ edge, load }: EdgeView): readonly Observation[] {
  if (load === undefined || load.cacheDisk < NEARLY_FULL_SHARE) return [];
  const data = { disk: 'cache', percent: Math.floor(load.cacheDisk * 100) };
  return [{ kind: 'disk', key: edge, target: targetOf(edge), level: 0, data }];
}

function judgeSinks({ edge, sinks }: EdgeView): readonly Observation[] {
  return sinks.map(({ sink, state, reason }) => ({
    ...{ kind: 'sink', key: `${edge} ${sink}`, target: targetOf(edge), level: state === 'dropping' ? 1 : 0 },
    data: { sink, state, reason },
  }));
}

function targetOf(edge: string) {
  return { kind: 'edge', id: edge, name: edge } as const;
}
