/** What each edge reported last, one row per edge. */
import { EDGE_LIVE_MS } from '#model/acknowledgement.ts';
import type { EdgeReport, Rejection } from '#model/edge.ts';
import { readHead } from './resources.ts';
import type { EdgeRow, Executor } from './schema.ts';

export interface EdgeStatusReport {
  readonly edge: string;
  readonly epoch: string;
  readonly appliedRevision: number;
  readonly rejected: readonly Rejection[];
  readonly build: string;
  readonly startedAt: number;
}

/** A report about another epoch says that the edge lives, but acknowledges nothing of this database. */
export async function recordEdgeStatus(x: Executor, status: EdgeStatusReport, now: number): Promise<void> {
  const { epoch } = await readHead(x);
  const values = {
    applied_revision: status.epoch === epoch ? status.appliedRevision : 0,
    rejected: JSON.stringify(status.rejected),
    build: status.build,
    started_at: status.startedAt,
    reported_at: now,
  };
  await x
    .insertInto('edge')
    .values({ id: status.edge, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute();
}

/** Edges that reported within the last 30 s, by name. */
export function listLiveEdges(x: Executor, now: number): Promise<readonly EdgeReport[]> {
  return listEdgesSince(x, now - EDGE_LIVE_MS);
}

/** Edges that reported after `since`, by name. */
export async function listEdgesSince(x: Executor, since: number): Promise<readonly EdgeReport[]> {
  const rows = await x.selectFrom('edge').selectAll().where('reported_at', '>', since).orderBy('id').execute();
  return rows.map(toEdgeReport);
}

function toEdgeReport(row: EdgeRow): EdgeReport {
  return {
    edge: row.id,
    appliedRevision: row.applied_revision,
    // `as`: written by `recordEdgeStatus` only, whose caller has checked it.
    rejected: JSON.parse(row.rejected) as Rejection[],
    build: row.build,
    startedAt: row.started_at,
    reportedAt: row.reported_at,
  };
}
