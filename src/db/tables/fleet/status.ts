/** The summary of all edges, and of the controls and the database behind them. */
import { type ControlStatus, countStates, type FleetStatus, lowestRevision } from '#model/fleet-status.ts';
import { isPostgres } from '../../engines/engine.ts';
import type { Executor } from '../../schema/schema.ts';
import { listControls } from '../controls.ts';
import { listEdgeViews } from '../edges.ts';
import { listLeases } from '../leases.ts';
import { isSynchronous } from '../replication.ts';
import { readConfigHead } from '../resources.ts';
import { readTimeAfter } from '../revision-tags.ts';

export async function readFleetStatus(x: Executor, now: number): Promise<FleetStatus> {
  const { revision } = await readConfigHead(x);
  const edges = (await listEdgeViews(x, now)).filter(({ state }) => state !== 'removed');
  const lowest = lowestRevision(edges, revision);
  const behindSince = lowest < revision ? await readTimeAfter(x, lowest) : undefined;
  return {
    controls: await readControls(x, now),
    isSynchronous: isPostgres(x) ? await isSynchronous(x) : undefined,
    headRevision: revision,
    counts: countStates(edges),
    lagRevisions: revision - lowest,
    lagSeconds: behindSince === undefined ? 0 : Math.max(0, Math.round((now - behindSince) / 1000)),
  };
}

async function readControls(x: Executor, now: number): Promise<readonly ControlStatus[]> {
  const leases = (await listLeases(x, now)).filter(({ isLive }) => isLive);
  return (await listControls(x, now)).map(({ id, seenAt, facts }) => ({
    id,
    build: facts.build,
    seenAt,
    leases: leases.flatMap(({ name, holder }) => (holder === id ? [name] : [])).toSorted(),
  }));
}
