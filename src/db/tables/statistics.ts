/** Traffic sums by domain and time, and the most frequent values. */
import { type RawBuilder, sql } from 'kysely';
import { DAY_MS, FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { inIds } from '../statements/lists.ts';

export type Grain = 'minute' | 'hour' | 'day';
/** `five`: five minutes, from which bandwidth is billed. docs/decisions/0742 */
export type StoredGrain = Grain | 'five';

type StatSum = Schema['stat_sum'];
export type SumRow = Omit<StatSum, 'grain'> & { readonly grain: StoredGrain };
export type AccountSumRow = Omit<Schema['stat_account'], 'grain'> & { readonly grain: StoredGrain };
type SumName = Exclude<keyof StatSum, 'domain_id' | 'grain' | 'at'>;
export type Sums = Readonly<Pick<StatSum, SumName>>;

export const SUM_NAMES = [
  'requests',
  'bytes_in',
  'bytes_out',
  'bytes_origin',
  'hits',
  'hit_bytes',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
] as const satisfies readonly SumName[];

/** Rows per statement: engines limit the number of parameters. */
const ROWS_AT_ONCE = 200;

/** Identity of a report. Those of one start of an edge have growing numbers. */
export interface ReportName {
  readonly edge: string;
  readonly start: string;
  readonly sequence: number;
}

/**
 * Claims reports, at most one of each start of an edge, within the transaction that adds them. Returns those of which
 * neither this one nor a later one of the same start was added before.
 */
export async function claimReports<Report extends ReportName>(
  x: Executor,
  reports: readonly Report[],
  now: number,
): Promise<readonly Report[]> {
  if (reports.length === 0) return [];
  const values = reports.map(({ edge, start, sequence }) => ({ edge, start, sequence, received_at: now }));
  const claimed = await x
    .insertInto('stat_report')
    // In a fixed order, so that two controls do not wait for each other in a circle.
    .values(values.toSorted((a, b) => (nameOfStart(a) < nameOfStart(b) ? -1 : 1)))
    .onConflict((conflict) =>
      conflict
        .columns(['edge', 'start'])
        .doUpdateSet((e) => ({ sequence: e.ref('excluded.sequence'), received_at: now }))
        .whereRef('stat_report.sequence', '<', 'excluded.sequence'),
    )
    .returning(['edge', 'start'])
    .execute();
  const names = new Set(claimed.map(nameOfStart));
  return reports.filter((report) => names.has(nameOfStart(report)));
}

export function nameOfStart({ edge, start }: Pick<ReportName, 'edge' | 'start'>): string {
  return `${edge} ${start}`;
}

/**
 * Adds to the stored sums. `rows` has each domain, grain and instant once. Rows are written in a fixed order to prevent
 * deadlocks.
 */
export async function addSums(x: Executor, rows: readonly SumRow[]): Promise<void> {
  const sorted = [...rows].sort((a, b) => a.domain_id - b.domain_id || a.grain.localeCompare(b.grain) || a.at - b.at);
  for (let at = 0; at < sorted.length; at += ROWS_AT_ONCE) {
    await x
      .insertInto('stat_sum')
      .values(sorted.slice(at, at + ROWS_AT_ONCE))
      .onConflict((conflict) => conflict.columns(['domain_id', 'grain', 'at']).doUpdateSet(sumsAddedTo('stat_sum')))
      .execute();
  }
}

/** The same as `addSums`, for accounts. */
export async function insertAccountSums(x: Executor, rows: readonly AccountSumRow[]): Promise<void> {
  const sorted = [...rows].sort((a, b) => a.account_id - b.account_id || a.grain.localeCompare(b.grain) || a.at - b.at);
  for (let at = 0; at < sorted.length; at += ROWS_AT_ONCE) {
    await x
      .insertInto('stat_account')
      .values(sorted.slice(at, at + ROWS_AT_ONCE))
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'grain', 'at']).doUpdateSet(sumsAddedTo('stat_account')),
      )
      .execute();
  }
}

function sumsAddedTo(table: 'stat_sum' | 'stat_account'): Record<SumName, RawBuilder<number>> {
  const added = SUM_NAMES.map((name) => [
    name,
    sql<number>`${sql.ref(`${table}.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
  ]);
  return Object.fromEntries(added) as Record<SumName, RawBuilder<number>>; // one for each name
}

export interface SumQuery {
  readonly domainIds: readonly number[];
  readonly grain: StoredGrain;
  /** The interval in epoch milliseconds: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Returns sums over all these domains together, earliest first. Instants without traffic are absent. */
export async function listSums(
  x: Executor,
  { domainIds, grain, from, to }: SumQuery,
): Promise<readonly (Sums & { readonly at: number })[]> {
  if (domainIds.length === 0) return [];
  const rows = await x
    .selectFrom('stat_sum')
    .select((e) => ['at', ...SUM_NAMES.map((name) => e.fn.sum<number>(name).as(name))])
    .where(sql<boolean>`domain_id ${inIds(x, domainIds)}`)
    .where('grain', '=', grain)
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy('at')
    .orderBy('at')
    .execute();
  // `as`: the columns selected above; PostgreSQL returns sums of bigint as text.
  return rows.map((row) => toNumbers(row as unknown as Readonly<Record<string, unknown>>));
}

/** Bytes that the domains of an account have sent to viewers since `from`, by minute; minutes without any are left out. */
export async function listBytesOut(
  x: Executor,
  { accountId, from }: { readonly accountId: number; readonly from: number },
): Promise<{ readonly at: number; readonly bytes: number }[]> {
  const rows = await x
    .selectFrom('domain')
    .innerJoin('stat_sum', 'stat_sum.domain_id', 'domain.id')
    .where('account_id', '=', accountId)
    .where('grain', '=', 'minute')
    .where('at', '>=', from)
    .select((e) => ['at', e.fn.sum<number | string>('bytes_out').as('bytes')])
    .groupBy('at')
    .execute();
  return rows.map(({ at, bytes }) => ({ at: Number(at), bytes: Number(bytes) }));
}

function toNumbers(row: Readonly<Record<string, unknown>>): Sums & { readonly at: number } {
  const numbers = ['at', ...SUM_NAMES].map((name) => [name, Number(row[name])]);
  return Object.fromEntries(numbers) as Sums & { at: number }; // `as`: one number for each name
}

/** Returns the start of the first stored hour with a request for the domain; `undefined` if there is none. */
export async function findFirstSeen(x: Executor, domainId: number): Promise<number | undefined> {
  const row = await x
    .selectFrom('stat_sum')
    .select('at')
    .where('domain_id', '=', domainId)
    .where('grain', '=', 'hour')
    .where('requests', '>', 0)
    .orderBy('at')
    .limit(1)
    .executeTakeFirst();
  return row && Number(row.at);
}

export interface TopRow {
  readonly value: string;
  readonly requests: number;
  readonly bytes: number;
}

export interface TopPlace {
  readonly domainId: number;
  /** Start of the hour. */
  readonly at: number;
  readonly kind: string;
}

/** Adds to the stored counts and keeps the `keep` most frequent values. */
export async function addTop(x: Executor, place: TopPlace, rows: readonly TopRow[], keep: number): Promise<void> {
  const { domainId, at, kind } = place;
  if (rows.length === 0) return;
  const sorted = [...rows].sort((a, b) => (a.value < b.value ? -1 : 1));
  await x
    .insertInto('stat_top')
    .values(sorted.map((row) => ({ domain_id: domainId, at, kind, ...row })))
    .onConflict((conflict) =>
      conflict.columns(['domain_id', 'at', 'kind', 'value']).doUpdateSet((e) => ({
        requests: e('stat_top.requests', '+', e.ref('excluded.requests')),
        bytes: e('stat_top.bytes', '+', e.ref('excluded.bytes')),
      })),
    )
    .execute();
  await sql`
    delete from stat_top where domain_id = ${domainId} and at = ${at} and kind = ${kind} and value not in (
      select value from stat_top where domain_id = ${domainId} and at = ${at} and kind = ${kind}
        order by requests desc, bytes desc, value limit ${sql.lit(keep)}
    )
  `.execute(x);
}

export interface TopQuery {
  readonly domainIds: readonly number[];
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** Lists the most frequent values first. */
export async function listTop(x: Executor, query: TopQuery): Promise<readonly TopRow[]> {
  const { domainIds, kind, from, to, limit } = query;
  if (domainIds.length === 0) return [];
  const rows = await x
    .selectFrom('stat_top')
    .select((e) => ['value', e.fn.sum<number>('requests').as('requests'), e.fn.sum<number>('bytes').as('bytes')])
    .where(sql<boolean>`domain_id ${inIds(x, domainIds)}`)
    .where('kind', '=', kind)
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy('value')
    .orderBy('requests', 'desc')
    .orderBy('value')
    .limit(limit)
    .execute();
  return rows.map(({ value, requests, bytes }) => ({ value, requests: Number(requests), bytes: Number(bytes) }));
}

/** Instants before which rows are deleted. */
export interface StatisticsEnds {
  readonly ofDomains: Readonly<Record<StoredGrain, number>>;
  readonly ofAccounts: Readonly<Record<StoredGrain, number>>;
  readonly top: number;
  readonly report: number;
}

/** Deletes old rows. Sums go in slices of time, so that no statement runs for long. */
export async function pruneStatistics(x: Executor, { ofDomains, ofAccounts, top, report }: StatisticsEnds) {
  for (const grain of STORED_GRAINS) {
    for await (const end of slicesBefore(x, 'stat_sum', grain, ofDomains[grain]))
      await x.deleteFrom('stat_sum').where('grain', '=', grain).where('at', '<', end).execute();
    for await (const end of slicesBefore(x, 'stat_account', grain, ofAccounts[grain]))
      await x.deleteFrom('stat_account').where('grain', '=', grain).where('at', '<', end).execute();
  }
  await x.deleteFrom('stat_top').where('at', '<', top).execute();
  await x.deleteFrom('stat_report').where('received_at', '<', report).execute();
}

/** Instants of sums that one statement deletes. */
const INSTANTS_AT_ONCE = 5;
const STORED_GRAINS: readonly StoredGrain[] = ['minute', 'five', 'hour', 'day'];
const GRAIN_MS: Readonly<Record<StoredGrain, number>> = {
  minute: MINUTE_MS,
  five: FIVE_MINUTES_MS,
  hour: HOUR_MS,
  day: DAY_MS,
};

/** Yields the end of a slice of time, before which the caller deletes, until nothing older than `before` is left. */
async function* slicesBefore(
  x: Executor,
  table: 'stat_sum' | 'stat_account',
  grain: StoredGrain,
  before: number,
): AsyncGenerator<number> {
  for (;;) {
    const { oldest } = await x
      .selectFrom(table)
      .select((e) => e.fn.min<number | string | null>('at').as('oldest'))
      .where('grain', '=', grain)
      .executeTakeFirstOrThrow();
    if (oldest === null || Number(oldest) >= before) return;
    yield Math.min(before, Number(oldest) + INSTANTS_AT_ONCE * GRAIN_MS[grain]);
  }
}
