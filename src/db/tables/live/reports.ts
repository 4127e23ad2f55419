/**
 * Stores reports of live processes: each event once and in order; streams on air replace those of the last report. One
 * transaction, under one lock for all of live. docs/decisions/0502
 */
import { sql, type Transaction } from 'kysely';
import { type BroadcastName, isOnAir, type LiveEvent, type LiveStatus } from '#model/live-stream.ts';
import type { Executor, LiveStreamRow, Schema } from '../../schema/schema.ts';
import { inIds } from '../../statements/lists.ts';
import { findReportable } from '../edge-groups.ts';
import { addViewers } from './history.ts';
import { findStream, lockLive } from './rows.ts';
import { saveStatuses } from './statuses.ts';

export interface StoredReport {
  readonly edge: string;
  /** Names the file that numbers the events; it changes if that file is lost. */
  readonly epoch: string;
  /** Ascending by `n`. */
  readonly events: readonly LiveEvent[];
  /** Broadcasts on air, in place of those that this edge reported before; absent: unchanged. */
  readonly streams?: readonly LiveStatus[];
  /** Group of the edge; absent for an edge of control's machine. */
  readonly group?: string | undefined;
}

/** An edge that has been silent for longer loses a stream to another one that has it on air. */
export const OWNER_SILENT_MS = 30_000;

/** Stores a report. Returns the highest stored number, and the broadcasts whose stream another edge has on air. */
export async function recordLiveReport(
  trx: Transaction<Schema>,
  report: StoredReport,
  now: number,
): Promise<{ readonly taken: number; readonly notOwned: readonly string[] }> {
  await lockLive(trx);
  const { edge, epoch, events, streams } = report;
  const process = await trx.selectFrom('live_process').selectAll().where('edge', '=', edge).executeTakeFirst();
  const before = process?.epoch === epoch ? process.taken : 0;
  const recorder: Recorder = { trx, edge, now, domains: await findDomains(trx, report), notOwned: new Set() };
  const fresh = events.filter(({ n }) => n > before);
  for (const event of fresh) {
    if (event.kind === 'began') await begin(recorder, { ...event, beganAt: event.at });
    else await end(recorder, event, event.at, event.reason);
  }
  if (streams !== undefined) await replaceOnAir(recorder, streams);
  const values = { epoch, taken: fresh.at(-1)?.n ?? before, reported_at: now };
  await trx
    .insertInto('live_process')
    .values({ edge, ...values })
    .onConflict((conflict) => conflict.column('edge').doUpdateSet(values))
    .execute();
  return { taken: values.taken, notOwned: [...recorder.notOwned] };
}

interface Recorder {
  readonly trx: Transaction<Schema>;
  readonly edge: string;
  readonly now: number;
  /** Domains of the report that exist and that the edge may report of: reports about others are ignored. */
  readonly domains: ReadonlySet<number>;
  readonly notOwned: Set<string>;
}

async function findDomains(x: Executor, { events, streams = [], group }: StoredReport): Promise<ReadonlySet<number>> {
  const named = new Set([...events, ...streams].map(({ domainId }) => domainId));
  const ids = await findReportable(x, group, [...named]);
  if (ids.size === 0) return ids;
  const rows = await x
    .selectFrom('domain')
    .select('id')
    .where(sql<boolean>`id ${inIds(x, [...ids])}`)
    .where('deleted_at', 'is', null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

interface Beginning extends BroadcastName {
  readonly beganAt: number;
  readonly source: string;
  readonly address: string;
}

/**
 * Stores the beginning of a broadcast; idempotent. Returns false if it was not stored, because another edge has the
 * stream or the domain does not exist.
 */
async function begin(recorder: Recorder, beginning: Beginning): Promise<boolean> {
  const { trx, edge, now, domains, notOwned } = recorder;
  const { domainId, app, stream, broadcast, beganAt, source, address } = beginning;
  if (!domains.has(domainId)) return false;
  const present = await findStream(trx, beginning);
  if (present?.broadcast === broadcast && present.edge === edge) return true;
  if (present !== undefined && isOnAir(toOnAir(present)) && present.edge !== edge) {
    if (!(await isSilent(trx, present.edge, now))) {
      notOwned.add(broadcast);
      return false;
    }
  }
  const inserted = await trx
    .insertInto('live_broadcast')
    .values({
      domain_id: domainId,
      app,
      stream,
      broadcast,
      edge,
      source,
      address,
      began_at: beganAt,
      ended_at: 0,
      last_media_at: beganAt,
      end_reason: '',
      peak_viewers: 0,
    })
    .onConflict((conflict) => conflict.columns(['domain_id', 'app', 'stream', 'broadcast']).doNothing())
    .returning('broadcast')
    .executeTakeFirst();
  if (inserted === undefined) return !(await isReplaced(recorder, beginning));
  if (present !== undefined && isOnAir(toOnAir(present))) {
    if (present.edge === edge && present.began_at > beganAt) return true; // a later broadcast is known already
    await end(
      { ...recorder, edge: present.edge },
      nameOf(present),
      beganAt,
      present.edge === edge ? 'crashed' : 'replaced',
    );
  }
  const values = { broadcast, edge, began_at: beganAt, ended_at: 0, status: '' };
  await trx
    .insertInto('live_stream')
    .values({ domain_id: domainId, app, stream, ...NEVER_MARKED, ...values })
    .onConflict((conflict) => conflict.columns(['domain_id', 'app', 'stream']).doUpdateSet(values))
    .execute();
  return true;
}

/** Whether another edge took over the stream of a known broadcast. */
async function isReplaced(
  { trx, notOwned }: Recorder,
  { domainId, app, stream, broadcast }: BroadcastName,
): Promise<boolean> {
  const row = await trx
    .selectFrom('live_broadcast')
    .select('end_reason')
    .where('domain_id', '=', domainId)
    .where('app', '=', app)
    .where('stream', '=', stream)
    .where('broadcast', '=', broadcast)
    .executeTakeFirst();
  if (row?.end_reason !== 'replaced') return false;
  notOwned.add(broadcast);
  return true;
}

const NEVER_MARKED = { forbidden: 0, forbidden_at: 0, forbidden_until: 0, resumed_at: 0, kicked: '' };

async function isSilent(x: Executor, edge: string, now: number): Promise<boolean> {
  const row = await x.selectFrom('live_process').select('reported_at').where('edge', '=', edge).executeTakeFirst();
  // A report from the future is from before the clock was set back.
  return row === undefined || Math.abs(now - row.reported_at) > OWNER_SILENT_MS;
}

/** Stores an end. It replaces control's own conclusion (`crashed`). Does nothing for a broadcast of another edge. */
async function end({ trx, edge }: Recorder, name: BroadcastName, at: number, reason: string): Promise<void> {
  const ended = await trx
    .updateTable('live_broadcast')
    .set((e) => ({
      ended_at: e.case().when('began_at', '>', at).then(e.ref('began_at')).else(at).end(),
      end_reason: reason,
    }))
    .where('domain_id', '=', name.domainId)
    .where('app', '=', name.app)
    .where('stream', '=', name.stream)
    .where('broadcast', '=', name.broadcast)
    .where('edge', '=', edge)
    .where((e) => e.or([e('ended_at', '=', 0), e('end_reason', '=', 'crashed')]))
    .returning('ended_at')
    .executeTakeFirst();
  if (ended === undefined) return;
  await trx
    .updateTable('live_stream')
    .set({ ended_at: ended.ended_at })
    .where('domain_id', '=', name.domainId)
    .where('app', '=', name.app)
    .where('stream', '=', name.stream)
    .where('broadcast', '=', name.broadcast)
    .execute();
}

/** Replaces the edge's streams on air. A broadcast that is no longer named ended with its last media. */
async function replaceOnAir(recorder: Recorder, statuses: readonly LiveStatus[]): Promise<void> {
  const { trx, edge, now, domains } = recorder;
  const rows = await trx
    .selectFrom('live_broadcast')
    .select(['domain_id', 'app', 'stream', 'broadcast', 'last_media_at'])
    .where('ended_at', '=', 0)
    .where('edge', '=', edge)
    .execute();
  const gone = new Map(rows.map((row) => [keyOf(nameOf(row)), row]));
  const owned: LiveStatus[] = [];
  for (const status of statuses) {
    // Nearly all are known to be on air at this edge; for those no further query is needed.
    const isKnown = gone.has(keyOf(status)) && domains.has(status.domainId);
    if (!isKnown && !(await begin(recorder, { ...status, beganAt: status.startedAt }))) continue;
    gone.delete(keyOf(status));
    owned.push(status);
  }
  for (const row of gone.values()) await end(recorder, nameOf(row), row.last_media_at, 'crashed');
  await saveStatuses(trx, edge, owned);
  await addViewers(trx, owned, now);
}

function keyOf({ domainId, app, stream, broadcast }: BroadcastName): string {
  return `${domainId}/${app}/${stream}/${broadcast}`;
}

function nameOf(row: Pick<LiveStreamRow, 'domain_id' | 'app' | 'stream' | 'broadcast'>): BroadcastName {
  return { domainId: row.domain_id, app: row.app, stream: row.stream, broadcast: row.broadcast };
}

function toOnAir(row: LiveStreamRow) {
  return { broadcast: row.broadcast, endedAt: row.ended_at };
}

/**
 * Ends the broadcasts of edges that have been silent since `before`, until they report them again. Returns how many.
 */
export async function endSilent(trx: Transaction<Schema>, before: number, limit: number): Promise<number> {
  await lockLive(trx);
  const rows = await trx
    .selectFrom('live_broadcast')
    .innerJoin('live_process', 'live_process.edge', 'live_broadcast.edge')
    .select(['domain_id', 'app', 'stream', 'broadcast', 'last_media_at', 'live_broadcast.edge'])
    .where('ended_at', '=', 0)
    .where('reported_at', '<', before)
    .limit(limit)
    .execute();
  for (const row of rows) {
    const recorder = { trx, edge: row.edge, now: 0, domains: new Set<number>(), notOwned: new Set<string>() };
    await end(recorder, nameOf(row), row.last_media_at, 'crashed');
  }
  return rows.length;
}
