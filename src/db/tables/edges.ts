/** The last report of each edge, one row per edge. */
import { EDGE_LIVE_MS, isLive } from '#model/acknowledgement.ts';
import type { EdgeReport, EdgeStatus, OriginTrouble, Rejection } from '#model/edge.ts';
import type { EdgeRow, Executor } from '../schema/schema.ts';
import { CERTIFICATE_KIND, listCertificateUsers } from './certificates.ts';
import { isInHistory } from './revision-tags.ts';

/**
 * `unknownPlace`: the reported position is not in our history. The edge is live but acknowledges nothing. `superseded`:
 * a live instance that started later reports under the same id, so this report is ignored.
 */
export type RecordedStatus = 'recorded' | 'unknownPlace' | 'superseded';

export async function recordEdgeStatus(x: Executor, status: EdgeStatus, now: number): Promise<RecordedStatus> {
  const isKnown = await isInHistory(x, status.at);
  const values = {
    applied_revision: isKnown ? status.appliedRevision : 0,
    rejected: JSON.stringify(status.rejected),
    build: status.build,
    started_at: status.startedAt,
    reported_at: now,
    origins: JSON.stringify(status.origins),
  };
  const recorded = await x
    .insertInto('edge')
    .values({ id: status.edge, ...values })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(values)
        .where((e) =>
          e.or([
            e('edge.started_at', '<=', status.startedAt),
            // The SQL form of `isLive`: the other instance is not live.
            e('edge.reported_at', '<=', now - EDGE_LIVE_MS),
            e('edge.reported_at', '>=', now + EDGE_LIVE_MS),
          ]),
        ),
    )
    .returning('id')
    .executeTakeFirst();
  if (recorded === undefined) return 'superseded';
  return isKnown ? 'recorded' : 'unknownPlace';
}

/**
 * Lists edges that reported within the last 30 s, by name. An edge that rejects a certificate also rejects the sites
 * that use it.
 */
export async function listLiveEdges(x: Executor, now: number): Promise<readonly EdgeReport[]> {
  const edges = (await listEdges(x, { now, withinMs: EDGE_LIVE_MS })).filter((edge) => isLive(edge, now));
  const refused = edges.flatMap(({ rejected }) => rejected.filter(isOfCertificate).map(({ key }) => key));
  if (refused.length === 0) return edges;
  const users = await listCertificateUsers(x, refused);
  return edges.map((edge) => ({
    ...edge,
    rejected: edge.rejected.flatMap((rejection) => {
      const names = isOfCertificate(rejection) ? (users.get(rejection.key) ?? []) : [];
      return [rejection, ...names.map((key) => ({ ...rejection, kind: 'site', key }))];
    }),
  }));
}

function isOfCertificate({ kind }: Rejection): boolean {
  return kind === CERTIFICATE_KIND;
}

/** Lists edges that reported within `withinMs`, by name. Reports that lie further in the future are ignored as well. */
export async function listEdges(
  x: Executor,
  { now, withinMs }: { readonly now: number; readonly withinMs: number },
): Promise<readonly EdgeReport[]> {
  const all = x.selectFrom('edge').selectAll();
  const within = all.where('reported_at', '>', now - withinMs).where('reported_at', '<', now + withinMs);
  const rows = await within.orderBy('id').execute();
  return rows.map(toEdgeReport);
}

function toEdgeReport(row: EdgeRow): EdgeReport {
  return {
    edge: row.id,
    appliedRevision: row.applied_revision,
    // `as`: written by `recordEdgeStatus` only, whose caller has checked it.
    rejected: JSON.parse(row.rejected) as Rejection[],
    origins: JSON.parse(row.origins) as OriginTrouble[], // as above
    build: row.build,
    startedAt: row.started_at,
    reportedAt: row.reported_at,
  };
}
