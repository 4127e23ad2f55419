/** Purge and prefetch tasks, prefetch results of the edges, and the daily usage of each account. */
import { sql, type Transaction } from 'kysely';
import { toModelNames } from '#lib/model-names.ts';
import type { AccountLimits } from '#model/account.ts';
import type { CacheItem, CacheTask, PrefetchCounts, PrefetchResult } from '#model/cache-task.ts';
import type { CacheTaskRow, Executor, Schema } from '../schema/schema.ts';
import type { OwnDomains } from './domain-filter.ts';
import { findReportable } from './edge-groups.ts';

/** Retention of tasks. */
const TASK_KEEP_MS = 30 * 24 * 3600 * 1000;

export type NewCacheTask = Omit<CacheTask, 'id' | 'revision'>;

/** Amounts counted per account and day. */
export interface CacheAmounts {
  readonly purgeUrls: number;
  readonly purgeDirectories: number;
  readonly prefetchUrls: number;
}

/** Creates a task and returns its id. Its revision is 0 until `saveTaskRevision`. */
export async function insertTask(trx: Transaction<Schema>, task: NewCacheTask): Promise<number> {
  const { accountId, kind, createdAt, items } = task;
  const { id } = await trx
    .insertInto('cache_task')
    .values({ account_id: accountId, kind, created_at: createdAt, revision: 0, items: JSON.stringify(items) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function saveTaskRevision(trx: Transaction<Schema>, id: number, revision: number): Promise<void> {
  await trx.updateTable('cache_task').set({ revision }).where('id', '=', id).execute();
}

/** Returns `undefined` also for a task of another account, or with an item of a domain that the caller may not reach. */
export async function findTask(
  x: Executor,
  { accountId, domainIds, id }: OwnDomains & { readonly id: number },
): Promise<CacheTask | undefined> {
  const row = await x
    .selectFrom('cache_task')
    .selectAll()
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  const task = row && toTask(row);
  const isReached = task?.items.every(({ domainId = 0 }) => domainIds?.includes(domainId) ?? true);
  return isReached === true ? task : undefined;
}

/** Tasks of the account, newest first, from before the id `before` on. `kind` absent: both. */
export async function listTasks(
  x: Executor,
  {
    accountId,
    kind,
    before,
    limit,
  }: {
    readonly accountId: number;
    readonly kind: CacheTask['kind'] | undefined;
    readonly before: number | undefined;
    readonly limit: number;
  },
): Promise<readonly CacheTask[]> {
  const rows = await x
    .selectFrom('cache_task')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? ''))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toTask);
}

/** Number of items at edges that are stored there, and that failed, of each task that has any. */
export async function countPrefetchResults(
  x: Executor,
  taskIds: readonly number[],
): Promise<ReadonlyMap<number, PrefetchCounts>> {
  if (taskIds.length === 0) return new Map();
  const rows = await x
    .selectFrom('prefetch_outcome')
    .select((e) => [
      'task_id',
      e.fn.sum<number | string>(e.case().when('failure', '=', '').then(1).else(0).end()).as('done'),
      e.fn.countAll<number | string>().as('all'),
    ])
    .where('task_id', 'in', taskIds)
    .groupBy('task_id')
    .execute();
  return new Map(
    rows.map(({ task_id, done, all }) => [task_id, { done: Number(done), failed: Number(all) - Number(done) }]),
  );
}

/**
 * Stores results. Each replaces the edge's earlier result of the same item. Results of tasks and items that do not exist
 * are ignored, and those of domains that the edge may not report of. `group`: see `findReportable`.
 */
export async function recordPrefetchResults(
  x: Executor,
  { edge, group }: { readonly edge: string; readonly group: string | undefined },
  results: readonly (Omit<PrefetchResult, 'edge'> & { readonly taskId: number })[],
): Promise<void> {
  const items = await readItems(x, [...new Set(results.map(({ taskId }) => taskId))]);
  const domainIds = [...items.values()].flat().flatMap(({ domainId }) => domainId ?? []);
  const reportable = await findReportable(x, group, [...new Set(domainIds)]);
  for (const { taskId, n, failure = '' } of results) {
    const item = items.get(taskId)?.[n];
    if (item === undefined || (item.domainId !== undefined && !reportable.has(item.domainId))) continue;
    await sql`
      insert into prefetch_outcome (task_id, n, edge, failure)
        select id, ${sql.lit(n)}, ${edge}, ${failure} from cache_task where id = ${taskId}
        on conflict (task_id, n, edge) do update set failure = excluded.failure
    `.execute(x);
  }
}

/** Returns the items of these tasks, without tasks that do not exist. */
async function readItems(x: Executor, taskIds: readonly number[]): Promise<ReadonlyMap<number, readonly CacheItem[]>> {
  if (taskIds.length === 0) return new Map();
  const rows = await x.selectFrom('cache_task').select(['id', 'items']).where('id', 'in', taskIds).execute();
  return new Map(rows.map((row) => [row.id, readTaskItems(row)]));
}

/** Lists results by item and edge. */
export async function listPrefetchResults(x: Executor, taskId: number): Promise<readonly PrefetchResult[]> {
  const rows = await x
    .selectFrom('prefetch_outcome')
    .select(['n', 'edge', 'failure'])
    .where('task_id', '=', taskId)
    .orderBy('n')
    .orderBy('edge')
    .execute();
  return rows.map(({ n, edge, failure }) => ({ n, edge, failure: failure === '' ? undefined : failure }));
}

/** Deletes tasks older than 30 days, with their results, and usage from before then. */
export async function pruneTasks(x: Executor, now: number): Promise<void> {
  const before = now - TASK_KEEP_MS;
  await x.deleteFrom('cache_task').where('created_at', '<', before).execute();
  await x.deleteFrom('cache_usage').where('day', '<', new Date(before).toISOString().slice(0, 10)).execute();
}

/**
 * Counts these amounts for the account on `day`. If one would exceed its limit, counts nothing and returns the usage so
 * far. Exact under concurrency.
 */
export async function takeDayPlaces(
  trx: Transaction<Schema>,
  { accountId, day }: { readonly accountId: number; readonly day: string },
  amounts: CacheAmounts,
  limits: CacheAmounts,
): Promise<CacheAmounts | undefined> {
  const key = { account_id: accountId, day };
  await trx
    .insertInto('cache_usage')
    .values(key)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await trx
    .updateTable('cache_usage')
    .set((e) => ({
      purge_urls: e('purge_urls', '+', amounts.purgeUrls),
      purge_directories: e('purge_directories', '+', amounts.purgeDirectories),
      prefetch_urls: e('prefetch_urls', '+', amounts.prefetchUrls),
    }))
    .where('account_id', '=', accountId)
    .where('day', '=', day)
    .where((e) =>
      // Amounts of 0 are not checked: the limit may have been lowered below the day's usage.
      e.and([
        ...(amounts.purgeUrls > 0 ? [e('purge_urls', '<=', limits.purgeUrls - amounts.purgeUrls)] : []),
        ...(amounts.purgeDirectories > 0
          ? [e('purge_directories', '<=', limits.purgeDirectories - amounts.purgeDirectories)]
          : []),
        ...(amounts.prefetchUrls > 0 ? [e('prefetch_urls', '<=', limits.prefetchUrls - amounts.prefetchUrls)] : []),
      ]),
    )
    .returning('day')
    .executeTakeFirst();
  return row === undefined ? await readDayUsage(trx, { accountId, day }) : undefined;
}

/** What an account has ordered on a day. */
export async function readDayUsage(
  x: Executor,
  { accountId, day }: { readonly accountId: number; readonly day: string },
): Promise<CacheAmounts> {
  return (await findUsage(x, { account_id: accountId, day })) ?? { purgeUrls: 0, purgeDirectories: 0, prefetchUrls: 0 };
}

async function findUsage(
  x: Executor,
  { account_id, day }: { readonly account_id: number; readonly day: string },
): Promise<CacheAmounts | undefined> {
  return await x
    .selectFrom('cache_usage')
    .select(['purge_urls as purgeUrls', 'purge_directories as purgeDirectories', 'prefetch_urls as prefetchUrls'])
    .where('account_id', '=', account_id)
    .where('day', '=', day)
    .executeTakeFirst();
}

/** What an account may order in a day: its own limits, and the service's in place of those that it has not. */
export function amountsFor(limits: CacheAmounts, own: AccountLimits): CacheAmounts {
  return {
    purgeUrls: own.purgeUrls ?? limits.purgeUrls,
    purgeDirectories: own.purgeDirectories ?? limits.purgeDirectories,
    prefetchUrls: own.prefetchUrls ?? limits.prefetchUrls,
  };
}

interface DayUsage {
  readonly accountId: number;
  readonly name: string;
  readonly own: AccountLimits;
  readonly amounts: CacheAmounts;
}

/** Lists what accounts have used on a day. */
export async function listDayUsage(x: Executor, day: string): Promise<readonly DayUsage[]> {
  const rows = await x
    .selectFrom('cache_usage')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['account_id', 'name', 'limits', 'purge_urls', 'purge_directories', 'prefetch_urls'])
    .where('day', '=', day)
    .execute();
  return rows.map((row) => ({
    accountId: row.account_id,
    name: row.name,
    own: JSON.parse(row.limits) as AccountLimits, // only `saveAccountLimits` writes them
    amounts: {
      purgeUrls: row.purge_urls,
      purgeDirectories: row.purge_directories,
      prefetchUrls: row.prefetch_urls,
    },
  }));
}

function toTask(row: CacheTaskRow): CacheTask {
  // `as`: this file is the only one that writes them, and the table's check allows two words only.
  return { ...toModelNames(row), kind: row.kind as CacheTask['kind'], items: readTaskItems(row) };
}

function readTaskItems({ items }: Pick<CacheTaskRow, 'items'>): readonly CacheItem[] {
  return JSON.parse(items) as CacheItem[]; // as above
}
