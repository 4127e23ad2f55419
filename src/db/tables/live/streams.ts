/** Live streams as listed, and marks on them. Marks are published for edges and live processes. docs/decisions/0500 */
import { sql, type Transaction } from 'kysely';
import { toModelNames } from '#lib/model-names.ts';
import {
  LIVE_KEYS_KIND,
  LIVE_MARK_KIND,
  type ListedStreamState,
  type LiveStatus,
  liveMarkKey,
  MAX_LISTED_STREAMS,
  READY_KEEP_MS,
  type StreamFacts,
  type StreamName,
} from '#model/live-stream.ts';
import type { Executor, LiveStreamRow, Schema } from '../../schema/schema.ts';
import type { OwnDomains } from '../domain-filter.ts';
import type { Change } from '../resources.ts';
import { findStream, lockLive } from './rows.ts';

/** Limit of forbidden streams per domain. */
export const MAX_FORBIDDEN_STREAMS = 10_000;

export interface StoredStream extends StreamFacts {
  readonly accountId: number;
  readonly domainName: string;
  readonly edge: string;
  /** Last report of its live process; 0 if there is none. */
  readonly reportedAt: number;
  /** Last status of its latest broadcast. */
  readonly status: LiveStatus | undefined;
}

export interface StreamFilter {
  readonly accountId?: number | undefined;
  /** Absent: all. */
  readonly domainIds?: OwnDomains['domainIds'];
  readonly domainId?: number | undefined;
  readonly app?: string | undefined;
  readonly stream?: string | undefined;
  readonly state?: ListedStreamState | undefined;
  readonly now: number;
}

/**
 * Lists at most `MAX_LISTED_STREAMS`: those on air, then forbidden ones, then the others, the newest broadcast first.
 */
export async function listStreamFacts(x: Executor, filter: StreamFilter): Promise<readonly StoredStream[]> {
  const rows = await selectStreams(x, filter)
    .orderBy(rankAt(filter.now))
    .orderBy('began_at', 'desc')
    .orderBy('app')
    .orderBy('stream')
    .limit(MAX_LISTED_STREAMS)
    .execute();
  return rows.map(toStored);
}

/** Returns one page in the same order, and the total of all pages. */
export async function pageStreams(
  x: Executor,
  filter: StreamFilter & { readonly limit: number; readonly offset: number },
): Promise<{ readonly total: number; readonly streams: readonly StoredStream[] }> {
  const all = selectStreams(x, filter);
  const { total } = await x
    .selectFrom(all.as('matching'))
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await all
    .orderBy(rankAt(filter.now))
    .orderBy('began_at', 'desc')
    .orderBy('domain_id')
    .orderBy('app')
    .orderBy('stream')
    .limit(filter.limit)
    .offset(filter.offset)
    .execute();
  return { total: Number(total), streams: rows.map(toStored) };
}

function selectStreams(x: Executor, { accountId, domainIds, domainId, app, stream, state, now }: StreamFilter) {
  const since = now - READY_KEEP_MS;
  let query = x
    .selectFrom('live_stream')
    .innerJoin('domain', 'domain.id', 'live_stream.domain_id')
    .leftJoin('live_process', 'live_process.edge', 'live_stream.edge')
    .selectAll('live_stream')
    .select(['account_id', 'domain.name as domain_name', 'reported_at'])
    .where('deleted_at', 'is', null)
    .where((e) =>
      e.or([
        isForbiddenAt(now),
        ON_AIR,
        e('ended_at', '>', since),
        e('resumed_at', '>', since),
        e('forbidden_until', '>', since),
      ]),
    );
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (domainIds !== undefined)
    query = domainIds.length === 0 ? query.where(sql<boolean>`1 = 0`) : query.where('domain_id', 'in', domainIds);
  if (domainId !== undefined) query = query.where('domain_id', '=', domainId);
  if (app !== undefined) query = query.where('app', '=', app);
  if (stream !== undefined) query = query.where('stream', '=', stream);
  if (state !== undefined) query = query.where(rankAt(now), '=', RANKS[state]);
  return query;
}

const RANKS: Readonly<Record<ListedStreamState, number>> = { ONGOING: 0, PAUSED: 1, READY: 2 };
const ON_AIR = sql<boolean>`(live_stream.broadcast <> '' and live_stream.ended_at = 0)`;

function isForbiddenAt(now: number) {
  return sql<boolean>`(forbidden = 1 and (forbidden_until = 0 or forbidden_until > ${now}))`;
}

function rankAt(now: number) {
  return sql<number>`case when ${isForbiddenAt(now)} then 1 when ${ON_AIR} then 0 else 2 end`;
}

/** `limit`: the domain has `MAX_FORBIDDEN_STREAMS` already. */
export type Marked =
  | { readonly kind: 'limit' | 'missing' | 'notOnAir' }
  | { readonly kind: 'changes'; readonly changes: readonly Change[] };

/**
 * Forbids a stream, even one that was never on air. `until`: epoch milliseconds; 0: until it is resumed. The caller
 * publishes the changes.
 */
export async function forbidStream(
  trx: Transaction<Schema>,
  name: StreamName,
  until: number,
  now: number,
): Promise<Marked> {
  await lockLive(trx);
  const present = await findStream(trx, name);
  if (present?.forbidden !== 1 && (await countForbidden(trx, name.domainId)) >= MAX_FORBIDDEN_STREAMS) {
    return { kind: 'limit' };
  }
  const isPaused = present?.forbidden === 1 && (present.forbidden_until === 0 || now < present.forbidden_until);
  const values = {
    forbidden: 1,
    forbidden_at: isPaused ? present.forbidden_at : now,
    forbidden_until: until,
    kicked: '',
  };
  await trx
    .insertInto('live_stream')
    .values({ ...toColumns(name), ...NEVER_ON_AIR, ...values, resumed_at: 0 })
    .onConflict((conflict) => conflict.columns(['domain_id', 'app', 'stream']).doUpdateSet(values))
    .execute();
  return { kind: 'changes', changes: [putMark(name, { forbidden: true, until, kicked: '' })] };
}

const NEVER_ON_AIR = { broadcast: '', edge: '', began_at: 0, ended_at: 0, status: '' };

async function countForbidden(x: Executor, domainId: number): Promise<number> {
  const { count } = await x
    .selectFrom('live_stream')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('domain_id', '=', domainId)
    .where('forbidden', '=', 1)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Lifts the ban on a stream. Returns no changes if it is not forbidden. */
export async function resumeStream(trx: Transaction<Schema>, name: StreamName, now: number): Promise<Marked> {
  await lockLive(trx);
  const present = await findStream(trx, name);
  if (present === undefined) return { kind: 'missing' };
  if (present.forbidden !== 1) return { kind: 'changes', changes: [] };
  const until = present.forbidden_until;
  return { kind: 'changes', changes: [await settle(trx, name, until > 0 && until < now ? until : now)] };
}

/** Marks the broadcast on air to be cut; its publisher may publish again. */
export async function kickStream(trx: Transaction<Schema>, name: StreamName): Promise<Marked> {
  await lockLive(trx);
  const present = await findStream(trx, name);
  if (present === undefined) return { kind: 'missing' };
  if (present.broadcast === '' || present.ended_at !== 0) return { kind: 'notOnAir' };
  await updateStream(trx, name, { kicked: present.broadcast });
  const mark = { forbidden: present.forbidden === 1, until: present.forbidden_until, kicked: present.broadcast };
  return { kind: 'changes', changes: [putMark(name, mark)] };
}

/**
 * Settles at most `limit` marks that have expired and kicks whose broadcast has ended. Returns the changes to publish.
 */
export async function settleMarks(trx: Transaction<Schema>, now: number, limit: number): Promise<readonly Change[]> {
  await lockLive(trx);
  const due = await trx
    .selectFrom('live_stream')
    .selectAll()
    .where((e) =>
      e.or([
        e.and([e('forbidden', '=', 1), e('forbidden_until', '>', 0), e('forbidden_until', '<=', now)]),
        e.and([
          e('kicked', '!=', ''),
          e('forbidden', '=', 0),
          e.or([e('ended_at', '>', 0), e('kicked', '!=', e.ref('broadcast'))]),
        ]),
      ]),
    )
    .limit(limit)
    .execute();
  const changes: Change[] = [];
  for (const row of due) {
    const name = { domainId: row.domain_id, app: row.app, stream: row.stream };
    changes.push(await settle(trx, name, row.forbidden === 1 ? row.forbidden_until : row.resumed_at));
  }
  return changes;
}

async function settle(trx: Transaction<Schema>, name: StreamName, resumedAt: number): Promise<Change> {
  await updateStream(trx, name, {
    forbidden: 0,
    forbidden_at: 0,
    forbidden_until: 0,
    kicked: '',
    resumed_at: resumedAt,
  });
  return { kind: LIVE_MARK_KIND, key: liveMarkKey(name), op: 'delete' };
}

async function updateStream(
  trx: Transaction<Schema>,
  { domainId, app, stream }: StreamName,
  values: Partial<LiveStreamRow>,
): Promise<void> {
  await trx
    .updateTable('live_stream')
    .set(values)
    .where('domain_id', '=', domainId)
    .where('app', '=', app)
    .where('stream', '=', stream)
    .execute();
}

/**
 * Deletes the marks, keys and streams of a deleted domain and returns the changes to publish. Its history stays until
 * it expires, but cannot be queried.
 */
export async function forgetStreams(trx: Transaction<Schema>, domainId: number): Promise<readonly Change[]> {
  await lockLive(trx);
  const marked = await trx
    .deleteFrom('live_stream')
    .where('domain_id', '=', domainId)
    .returning(['app', 'stream', 'forbidden', 'kicked'])
    .execute();
  const keys = await trx.deleteFrom('live_keys').where('domain_id', '=', domainId).returning('domain_id').execute();
  return [
    ...marked
      .filter(({ forbidden, kicked }) => forbidden === 1 || kicked !== '')
      .map(
        ({ app, stream }): Change => ({
          kind: LIVE_MARK_KIND,
          key: liveMarkKey({ domainId, app, stream }),
          op: 'delete',
        }),
      ),
    ...keys.map((): Change => ({ kind: LIVE_KEYS_KIND, key: String(domainId), op: 'delete' })),
  ];
}

/** Deletes streams that are no longer listed. */
export async function pruneStreams(trx: Transaction<Schema>, now: number): Promise<void> {
  const before = now - READY_KEEP_MS;
  await trx
    .deleteFrom('live_stream')
    .where('forbidden', '=', 0)
    .where('kicked', '=', '')
    .where('ended_at', '<=', before)
    .where('resumed_at', '<=', before)
    .where((e) => e.or([e('ended_at', '>', 0), e('broadcast', '=', '')]))
    .execute();
}

/** `body` is a `LiveMark` of `sites/live.ts`. */
function putMark(name: StreamName, body: { forbidden: boolean; until: number; kicked: string }): Change {
  return { kind: LIVE_MARK_KIND, key: liveMarkKey(name), op: 'put', body };
}

function toColumns({ domainId, app, stream }: StreamName) {
  return { domain_id: domainId, app, stream };
}

type JoinedRow = LiveStreamRow & {
  readonly account_id: number;
  readonly domain_name: string;
  readonly reported_at: number | null;
};

function toStored(row: JoinedRow): StoredStream {
  const { forbidden, kicked: _kicked, reported_at: reportedAt, status, ...plain } = row;
  return {
    ...toModelNames(plain),
    isForbidden: forbidden === 1,
    reportedAt: reportedAt ?? 0,
    // `as`: written by `reports.ts` only.
    status: status === '' ? undefined : (JSON.parse(status) as LiveStatus),
  };
}
