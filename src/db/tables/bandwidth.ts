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

export async function readHighestSamples(
  x: Executor,
  { accountId, domainIds }: BandwidthOwner,
  { from, to, highest }: BandwidthSpan,
): Promise<HighestSamples> {
  const source =
    domainIds === undefined
      ? sql`select at, bytes_out as bytes from stat_account where account_id = ${accountId}`
      : sql`select at, sum(bytes_out) as bytes from stat_sum where domain_id ${inIds(x, domainIds)}`;
  const samples = sql`${source} and grain = 'five' and at >= ${from} and at < ${to}
    ${domainIds === undefined ? sql`` : sql`group by at`}`;
  const { rows } = await sql<{ at: number | string; bytes: number | string }>`
    select at, bytes from (${samples}) as s order by bytes desc, at limit ${sql.lit(highest)}`.execute(x);
  const total = await sql<{ bytes: number | string | null }>`
    select sum(bytes) as bytes from (${samples}) as s`.execute(x);
  return {
    highest: rows.map(({ at, bytes }) => ({ at: Number(at), bytes: Number(bytes) })),
    totalBytes: Number(total.rows[0]?.bytes ?? 0),
  };
}
