/** The edges that a domain's changes wait for. */
import type { EdgeReport } from '#model/edge.ts';
import { edgesOf } from '#model/edge-group.ts';
import { holdingEdges } from '#model/edge-state.ts';
import type { Executor } from '../schema/schema.ts';
import { readServing } from './edge-groups.ts';
import { listLiveEdges } from './edges.ts';

export async function listServingEdges(x: Executor, domainId: number, now: number): Promise<readonly EdgeReport[]> {
  const edges = await listLiveEdges(x, now);
  // Without edges on other machines groups mean nothing.
  if (edges.every(({ group }) => group === undefined)) return holdingEdges(edges);
  return holdingEdges(edgesOf(await readServing(x, [domainId]), domainId, edges));
}
