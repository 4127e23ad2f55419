/** The last report of each edge, one row per edge, and the state that follows from it. */
import { sql } from 'kysely';
import type { EdgeLoad, EdgeReport, EdgeStatus, EdgeView, KnownEdge, OriginTrouble, Rejection } from '#model/edge.ts';
import type { CheckResult } from '#model/edge-health.ts';
import { EDGE_LIVE_MS } from '#model/edge-live.ts';
import { type EdgeFacts, type EdgeState, edgeHold, edgeState, isSeen, type OwnState } from '#model/edge-state.ts';
import type { SinkTrouble } from '#model/line-sink.ts';
import { isPostgres } from '../engines/engine.ts';
import type { EdgeRow, Executor } from '../schema/schema.ts';
import { statement } from '../statements/statement.ts';
import { resolveRejections } from './edge-rejections.ts';
import { readHistory } from './revision-tags.ts';

/**
 * `unknownPlace`: the reported position is not in our history. The edge is live but acknowledges nothing. `superseded`:
 * a live instance that started later reports under the same id, so this report is ignored.
 */
export type RecordedStatus = 'recorded' | 'unknownPlace' | 'superseded';

/** Records a report. */
export async function recordEdgeStatus(x: Executor, status: EdgeStatus, now: number): Promise<RecordedStatus> {
  const [recorded = 'superseded'] = await recordEdgeStatuses(x, [status], now);
  return recorded;
}

/**
 * Records reports of different edges in one statement, and returns the outcomes in their order. A suspect edge
 * acknowledges nothing: its applied revision stays. docs/decisions/0586
 */
export async function recordEdgeStatuses(
  x: Executor,
  statuses: readonly EdgeStatus[],
  now: number,
): Promise<readonly RecordedStatus[]> {
  const isInHistory = await readHistory(
    x,
    statuses.map(({ at }) => at),
  );
  const rows = statuses.toSorted(byEdge).map((status) => toRow(status, isInHistory(status.at), now));
  const { rows: counting } = await x.executeQuery(UPSERT({ rows }).compile(x));
  const ids = new Set(counting.map(({ id }) => id));
  return statuses.map(({ edge, at }) => {
    if (!ids.has(edge)) return 'superseded';
    return isInHistory(at) ? 'recorded' : 'unknownPlace';
  });
}

/** Statements about several edges lock their rows in one order, so that none waits for another in a circle. */
function byEdge(a: EdgeStatus, b: EdgeStatus): number {
  return a.edge < b.edge ? -1 : 1;
}

/** Columns of a report, in the order of `toRow`. */
const REPORTED = {
  id: 'text',
  applied_revision: 'bigint',
  rejected: 'text',
  build: 'text',
  started_at: 'bigint',
  reported_at: 'bigint',
  seen_at: 'bigint',
  origins: 'text',
  own_state: 'text',
  features: 'text',
  clock_offset_ms: 'bigint',
  load: 'text',
  health: 'text',
  self_drain_at: 'bigint',
  sinks: 'text',
  tier_address: 'text',
} as const;

/** An edge of a release without vitals that reports counts as ready. */
function toRow(status: EdgeStatus, isKnown: boolean, now: number): (string | number | null)[] {
  const { edge, appliedRevision, rejected, build, startedAt, origins, vitals } = status;
  const row: Record<keyof typeof REPORTED, string | number | null> = {
    id: edge,
    applied_revision: isKnown ? appliedRevision : 0,
    rejected: JSON.stringify(rejected),
    build,
    started_at: startedAt,
    reported_at: now,
    seen_at: now,
    origins: JSON.stringify(origins),
    own_state: vitals?.state ?? 'ready',
    features: JSON.stringify(vitals?.features ?? []),
    clock_offset_ms: vitals?.clockOffsetMs ?? null,
    load: JSON.stringify(vitals?.load ?? {}),
    health: JSON.stringify(vitals?.health ?? []),
    self_drain_at: vitals?.state === 'draining' ? now : null,
    sinks: JSON.stringify(vitals?.sinks ?? []),
    tier_address: vitals?.tierAddress ?? '',
  };
  return Object.values(row);
}

/** Columns whose new value depends on the old one. */
const MERGED: Readonly<Record<string, string>> = {
  applied_revision: 'case when edge.suspect_at is null then excluded.applied_revision else edge.applied_revision end',
  self_drain_at:
    'case when excluded.self_drain_at is null then null else coalesce(edge.self_drain_at, excluded.self_drain_at) end',
  // An edge without an identity cannot be kept out: it is back.
  removed_at: "case when edge.kind = 'local' then null else edge.removed_at end",
};

/** Returns the ids of the edges whose report counts: a live instance that started later keeps its own. */
const UPSERT = statement({ rows: 'rows' }, ({ rows }) => {
  const columns = Object.entries(REPORTED);
  const values = columns.map(([name, type], n) => `cast(value ->> ${n} as ${type}) as ${name}`);
  const taken = columns.flatMap(([name]) => (name === 'id' || name in MERGED ? [] : [`${name} = excluded.${name}`]));
  const merged = Object.entries(MERGED).map(([name, value]) => `${name} = ${value}`);
  // `where true`: SQLite would take `on conflict` for the condition of a join.
  return sql<{ readonly id: string }>`
    insert into edge (${sql.raw(Object.keys(REPORTED).join(', '))})
    select ${sql.raw(values.join(', '))} from ${rows} where true
    on conflict (id) do update set ${sql.raw([...taken, ...merged].join(', '))}
    where edge.started_at <= excluded.started_at
      or edge.reported_at <= excluded.reported_at - ${sql.lit(EDGE_LIVE_MS)}
      or edge.reported_at >= excluded.reported_at + ${sql.lit(EDGE_LIVE_MS)}
    returning id`;
});

/** Notes that these edges were heard of: in one statement, for the thousands that a control has. */
export async function noteEdgesSeen(x: Executor, edges: readonly string[], now: number): Promise<void> {
  await x.executeQuery(NOTE_SEEN({ rows: edges.toSorted().map((edge) => [edge]), now }).compile(x));
}

/** Locks the rows in the order of `UPSERT`. */
const NOTE_SEEN = statement({ rows: 'rows', now: 'value' }, ({ rows, now }, x) => {
  const ids = sql`select cast(value ->> 0 as text) from ${rows}`;
  if (!isPostgres(x)) return sql`update edge set seen_at = ${now} where id in (${ids})`;
  return sql`
    with seen as (select id from edge where id in (${ids}) order by id collate "C" for no key update)
    update edge set seen_at = ${now} from seen where edge.id = seen.id`;
});

/**
 * Lists edges that changes may wait for, by name; `holdingEdges` chooses among those that serve a domain. Their rejections
 * are those of `resolveRejections`.
 */
export async function listLiveEdges(x: Executor, now: number): Promise<readonly KnownEdge[]> {
  const edges = (await listEdges(x, { now, withinMs: EDGE_LIVE_MS })).filter(({ hold }) => hold !== 'none');
  return await resolveRejections(x, edges);
}

/** Lists edges that were seen within `withinMs`, by name, less those that lie further in the future. */
export async function listEdges(
  x: Executor,
  { now, withinMs }: { readonly now: number; readonly withinMs: number },
): Promise<readonly KnownEdge[]> {
  const all = x.selectFrom('edge').select([...REPORT_COLUMNS, ...FACT_COLUMNS]);
  const within = all.where('seen_at', '>', now - withinMs).where('seen_at', '<', now + withinMs);
  const rows = await within.orderBy('id').execute();
  return rows.map((row) => {
    const facts = toFacts(row);
    const isCounted = isSeen(facts, now) && facts.suspectAt === undefined;
    return { ...toEdgeReport(row), hold: edgeHold({ state: edgeState(facts, now), isSeen: isCounted }) };
  });
}

/** Columns that every call about a domain reads, for a thousand edges: as few as it needs. */
const REPORT_COLUMNS = [
  'id',
  'applied_revision',
  'rejected',
  'origins',
  'build',
  'started_at',
  'reported_at',
  'kind',
  'group_name',
] as const;
const FACT_COLUMNS = [
  'removed_at',
  'revoked_at',
  'suspect_at',
  'drain_at',
  'self_drain_at',
  'seen_at',
  'own_state',
  'load',
] as const;

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
  // `as`: these columns are written by `recordEdgeStatuses` and enrolment only, whose callers have checked them.
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
    sinks: parseList(row.sinks) as readonly SinkTrouble[],
  };
}

function toFacts(row: Pick<EdgeRow, (typeof FACT_COLUMNS)[number]>): EdgeFacts {
  // `as`: see above. The load counts only for an edge that drains.
  const { requests = 0 } = drainOf(row) === undefined ? {} : (JSON.parse(row.load) as Partial<EdgeLoad>);
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
function drainOf({ drain_at, self_drain_at }: Pick<EdgeRow, 'drain_at' | 'self_drain_at'>): number | undefined {
  if (drain_at === null || self_drain_at === null) return drain_at ?? self_drain_at ?? undefined;
  return Math.min(drain_at, self_drain_at);
}

function toEdgeReport(row: Pick<EdgeRow, (typeof REPORT_COLUMNS)[number]>): EdgeReport {
  return {
    edge: row.id,
    appliedRevision: row.applied_revision,
    // `as`: written by `recordEdgeStatuses` only, whose caller has checked it.
    rejected: parseList(row.rejected) as readonly Rejection[],
    origins: parseList(row.origins) as readonly OriginTrouble[], // as above
    build: row.build,
    startedAt: row.started_at,
    reportedAt: row.reported_at,
    ...(row.kind === 'edge' && { group: row.group_name }),
  };
}

/** Most lists of most edges are empty. */
function parseList(text: string): unknown {
  return text === '[]' ? [] : JSON.parse(text);
}
