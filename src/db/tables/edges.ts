/** The last report of each edge, one row per edge, and the state that follows from it. */
import { sql } from 'kysely';
import type { EdgeLoad, EdgeReport, EdgeStatus, EdgeView, KnownEdge, OriginTrouble, Rejection } from '#model/edge.ts';
import type { CheckResult } from '#model/edge-health.ts';
import { EDGE_LIVE_MS } from '#model/edge-live.ts';
import { type EdgeFacts, type EdgeState, edgeState, holdingEdges, isSeen, type OwnState } from '#model/edge-state.ts';
import type { EdgeRow, Executor } from '../schema/schema.ts';
import { CERTIFICATE_KIND, listCertificateUsers } from './certificates.ts';
import { isInHistory } from './revision-tags.ts';

/**
 * `unknownPlace`: the reported position is not in our history. The edge is live but acknowledges nothing. `superseded`:
 * a live instance that started later reports under the same id, so this report is ignored.
 */
export type RecordedStatus = 'recorded' | 'unknownPlace' | 'superseded';

/** Records a report. A suspect edge acknowledges nothing: its applied revision stays. */
export async function recordEdgeStatus(x: Executor, status: EdgeStatus, now: number): Promise<RecordedStatus> {
  const isKnown = await isInHistory(x, status.at);
  const drainsItself = status.vitals?.state === 'draining';
  const values = {
    applied_revision: isKnown ? status.appliedRevision : 0,
    rejected: JSON.stringify(status.rejected),
    build: status.build,
    started_at: status.startedAt,
    reported_at: now,
    seen_at: now,
    origins: JSON.stringify(status.origins),
    ...vitalColumns(status),
  };
  const recorded = await x
    .insertInto('edge')
    .values({ id: status.edge, ...values, self_drain_at: drainsItself ? now : null })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({
          ...values,
          applied_revision: sql<number>`case when edge.suspect_at is null then ${values.applied_revision} else edge.applied_revision end`,
          self_drain_at: drainsItself ? sql<number>`coalesce(edge.self_drain_at, ${now})` : null,
          // An edge without an identity cannot be kept out: it is back.
          removed_at: sql<number | null>`case when edge.kind = 'local' then null else edge.removed_at end`,
        })
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

/** Notes that these edges were heard of: in one statement, for the thousands that a control has. */
export async function noteEdgesSeen(x: Executor, edges: readonly string[], now: number): Promise<void> {
  await x.updateTable('edge').set({ seen_at: now }).where('id', 'in', edges).execute();
}

/** An edge of a release without vitals that reports counts as ready. */
function vitalColumns({ vitals }: EdgeStatus) {
  return {
    own_state: vitals?.state ?? 'ready',
    features: JSON.stringify(vitals?.features ?? []),
    clock_offset_ms: vitals?.clockOffsetMs ?? null,
    load: JSON.stringify(vitals?.load ?? {}),
    health: JSON.stringify(vitals?.health ?? []),
  };
}

/**
 * Lists edges without whose acknowledgement a change is not in force, by name. An edge that rejects a certificate also
 * rejects the sites that use it.
 */
export async function listLiveEdges(x: Executor, now: number): Promise<readonly EdgeReport[]> {
  const edges = (await listEdges(x, { now, withinMs: EDGE_LIVE_MS })).filter(({ isHolding }) => isHolding);
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

/** Lists edges that were seen within `withinMs`, by name, less those that lie further in the future. */
export async function listEdges(
  x: Executor,
  { now, withinMs }: { readonly now: number; readonly withinMs: number },
): Promise<readonly KnownEdge[]> {
  const all = x.selectFrom('edge').selectAll();
  const within = all.where('seen_at', '>', now - withinMs).where('seen_at', '<', now + withinMs);
  const rows = await within.orderBy('id').execute();
  const states = rows.map((row) => {
    const facts = toFacts(row);
    return { row, state: edgeState(facts, now), isSeen: isSeen(facts, now) && facts.suspectAt === undefined };
  });
  const holding = new Set(holdingEdges(states));
  return states.map((each) => ({ ...toEdgeReport(each.row), isHolding: holding.has(each) }));
}

/** Lists all edges as operators see them, by name. */
export async function listEdgeViews(x: Executor, now: number): Promise<readonly EdgeView[]> {
  const rows = await x.selectFrom('edge').selectAll().orderBy('id').execute();
  return rows.map((row) => toView(row, now));
}

/** Returns an edge as operators see it; `undefined` if there is none. */
export async function findEdgeView(x: Executor, edge: string, now: number): Promise<EdgeView | undefined> {
  const row = await x.selectFrom('edge').selectAll().where('id', '=', edge).executeTakeFirst();
  return row && toView(row, now);
}

function toView(row: EdgeRow, now: number): EdgeView {
  // `as`: these columns are written by `recordEdgeStatus` and enrolment only, whose callers have checked them.
  const load = JSON.parse(row.load) as EdgeLoad | Record<string, never>;
  return {
    ...toEdgeReport(row),
    state: edgeState(toFacts(row), now),
    notedState: row.state as EdgeState | '', // `as`: written by `noteEdgeState` only
    stateAt: row.state_at ?? undefined,
    group: row.group_name,
    labels: JSON.parse(row.labels) as Record<string, string>,
    seenAt: row.seen_at ?? undefined,
    drainAt: drainOf(row),
    drainsItself: row.self_drain_at !== null,
    features: JSON.parse(row.features) as string[],
    clockOffsetMs: row.clock_offset_ms ?? undefined,
    load: 'cpu' in load ? (load as EdgeLoad) : undefined,
    health: JSON.parse(row.health) as CheckResult[],
  };
}

function toFacts(row: EdgeRow): EdgeFacts {
  // `as`: see above.
  const { requests = 0 } = JSON.parse(row.load) as Partial<EdgeLoad>;
  return {
    removedAt: row.removed_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    suspectAt: row.suspect_at ?? undefined,
    drainAt: drainOf(row),
    seenAt: row.seen_at ?? undefined,
    ownState: row.own_state === '' ? undefined : (row.own_state as OwnState), // `as`: see above
    requestsPerSecond: requests,
  };
}

/** Returns the earlier of both orders. */
function drainOf({ drain_at, self_drain_at }: EdgeRow): number | undefined {
  if (drain_at === null || self_drain_at === null) return drain_at ?? self_drain_at ?? undefined;
  return Math.min(drain_at, self_drain_at);
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
    ...(row.kind === 'edge' && { group: row.group_name }),
  };
}
