/** The summary of all edges. */
import { countStates, type FleetStatus, lowestRevision } from '#model/fleet-status.ts';
import type { Executor } from '../../schema/schema.ts';
import { listEdgeViews } from '../edges.ts';
import { readConfigHead } from '../resources.ts';
import { readTimeAfter } from '../revision-tags.ts';

export async function readFleetStatus(x: Executor, now: number): Promise<FleetStatus> {
  const { revision } = await readConfigHead(x);
  const edges = (await listEdgeViews(x, now)).filter(({ state }) => state !== 'removed');
  const lowest = lowestRevision(edges, revision);
  const behindSince = lowest < revision ? await readTimeAfter(x, lowest) : undefined;
  return {
    headRevision: revision,
    counts: countStates(edges),
    lagRevisions: revision - lowest,
    lagSeconds: behindSince === undefined ? 0 : Math.max(0, Math.round((now - behindSince) / 1000)),
  };
}
