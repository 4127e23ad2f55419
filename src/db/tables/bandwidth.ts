/** The five minutes in which most was sent to viewers. docs/decisions/0742 */
import { sql } from 'kysely';
import type { Executor } from '../schema/schema.ts';
import { inIds } from '../statements/lists.ts';

/** The domains of an account, or some of them. */
export interface BandwidthOwner {
  readonly accountId: number;
  /** `undefined`: all, as the account was when they were counted. */
  readonly domainIds: readonly number[] | undefined;
}

export interface BandwidthSpan {
  /** Epoch milliseconds: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** Number of samples to return. */
  readonly highest: number;
}

export interface HighestSamples {
  /** Samples, the one with the most bytes first; five minutes without traffic are absent. */
  readonly highest: readonly { readonly at: number; readonly bytes: number }[];
  /** Bytes of all five minutes of the span. */
  readonly totalBytes: number;
}

/** Beginnings of the first sums of a span, by grain; the end of the span: there is none. */
export interface FirstSums {
  readonly five: number;
  readonly hour: number;
  readonly day: number;
}

export async function readHighestSamples(
  x: Executor,
  owner: BandwidthOwner,
  { from, to, highest }: BandwidthSpan,
): Promise<HighestSamples> {
  const samples = sql`select at, sum(bytes_out) as bytes from ${sumsOf(x, owner)}
    and grain = 'five' and at >= ${from} and at < ${to} group by at`;
  const { rows } = await sql<{ at: number | string; bytes: number | string }>`
    select at, bytes from (${samples}) as s order by bytes desc, at limit ${sql.lit(highest)}`.execute(x);
  const total = await sql<{ bytes: number | string | null }>`
    select sum(bytes) as bytes from (${samples}) as s`.execute(x);
  return {
    highest: rows.map(({ at, bytes }) => ({ at: Number(at), bytes: Number(bytes) })),
    totalBytes: Number(total.rows[0]?.bytes ?? 0),
  };
}

/** Returns when the first traffic of a span was counted. */
export async function findFirstSums(
  x: Executor,
  owner: BandwidthOwner,
  { from, to }: Pick<BandwidthSpan, 'from' | 'to'>,
): Promise<FirstSums> {
  const first = (grain: keyof FirstSums) =>
    sql`(select min(at) from ${sumsOf(x, owner)} and grain = ${sql.lit(grain)} and at >= ${from} and at < ${to})`;
  const { rows } = await sql<Readonly<Record<keyof FirstSums, number | string | null>>>`
    select ${first('five')} as five, ${first('hour')} as hour, ${first('day')} as day`.execute(x);
  const [row] = rows;
  const of = (grain: keyof FirstSums) => Number(row?.[grain] ?? to);
  return { five: of('five'), hour: of('hour'), day: of('day') };
}

function sumsOf(x: Executor, { accountId, domainIds }: BandwidthOwner) {
  return domainIds === undefined
    ? sql`stat_account where account_id = ${accountId}`
    : sql`stat_sum where domain_id ${inIds(x, domainIds)}`;
}
