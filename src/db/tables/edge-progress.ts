/** How far edges have come, in as few columns as that takes. */
import { EDGE_LIVE_MS } from '#model/edge-live.ts';
import type { EdgeProgress } from '#model/propagation-watch.ts';
import type { Executor } from '../schema/schema.ts';

/** Edges that were heard of of late. */
export async function listEdgeProgress(x: Executor, now: number): Promise<readonly EdgeProgress[]> {
  const rows = await x
    .selectFrom('edge')
    .select(['id', 'applied_revision', 'rejected'])
    .where('seen_at', '>', now - EDGE_LIVE_MS)
    .execute();
  return rows.map(({ id, applied_revision, rejected }) => ({ edge: id, appliedRevision: applied_revision, rejected }));
}
