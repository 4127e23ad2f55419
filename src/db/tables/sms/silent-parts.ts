/** Parts in doubt without any receipt, and the share of other parts that their carrier reports. docs/decisions/0426 */
import { sql, type Transaction } from 'kysely';
import type { ChargeAt } from '#model/sms-part.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { inIds } from '../../statements/lists.ts';
import { settleParts } from './money.ts';

interface SilentOptions {
  readonly connectorId: number;
  /** Only parts sent at or before this instant. */
  readonly submittedUntil: number;
  readonly limit: number;
}

export interface PartInDoubt {
  readonly id: number;
  /** Whether a receipt may be its own: an intermediate one, or an unmatched one with its number or without any. */
  readonly hasSign: boolean;
}

/** Returns the oldest parts in doubt of a connector, the oldest first. */
export async function findLongInDoubt(
  x: Executor,
  { connectorId, submittedUntil, limit }: SilentOptions,
): Promise<readonly PartInDoubt[]> {
  // `materialized`: unmatched receipts are read once, not for each part.
  const { rows } = await sql<{ id: number; hasSign: number | boolean }>`
    with doubted as materialized (
      select p.id, p.submitted_at, p.last_word, m.destination from sms_part as p join sms_message as m on m.id = p.message_id
      where p.state = 'uncertain' and p.submitted_at <= ${submittedUntil} and p.connector_id = ${connectorId}
      order by p.submitted_at limit ${limit}),
    waiting as materialized (
      select r.number, max(r.received_at) as received_at from sms_receipt as r where r.part_id is null
        and r.received_at >= (select min(submitted_at) from doubted) and r.connector_id = ${connectorId}
        and (r.number is null or r.number in (select destination from doubted))
      group by r.number)
    select d.id as id, (d.last_word <> '' or exists (select 1 from waiting as w
      where (w.number is null or w.number = d.destination) and w.received_at >= d.submitted_at)) as "hasSign"
    from doubted as d order by d.submitted_at, d.id`.execute(x);
  return rows.map(({ id, hasSign }) => ({ id, hasSign: Boolean(hasSign) }));
}

export interface ReceiptShare {
  /** Parts that the carrier accepted and has sent no final receipt for. */
  readonly unreported: number;
  /** Parts with a final receipt, counted no further than `reportedNeeded` asks. */
  readonly reported: number;
}

/**
 * Counts the connector's parts that were accepted after `since`, with and without a final receipt. `reportedNeeded`
 * returns the limit of the former count.
 */
export async function readReceiptShare(
  x: Executor,
  connectorId: number,
  since: number,
  reportedNeeded: (unreported: number) => number,
): Promise<ReceiptShare> {
  const unreported = await countOf(
    x,
    sql`select 1 from sms_part where state = 'submitted' and submitted_at > ${since} and connector_id = ${connectorId}`,
  );
  const reported = await countOf(
    x,
    sql`select distinct r.part_id from sms_receipt as r join sms_part as p on p.id = r.part_id
      where r.received_at > ${since} and r.connector_id = ${connectorId} and r.state <> 'onTheWay'
        and p.connector_id = ${connectorId} and p.submitted_at > ${since}
      limit ${reportedNeeded(unreported)}`,
  );
  return { unreported, reported };
}

async function countOf(x: Executor, rows: ReturnType<typeof sql>): Promise<number> {
  const { rows: found } = await sql<{ count: number }>`select count(*) as count from (${rows}) as counted`.execute(x);
  return Number(found[0]?.count ?? 0);
}

interface EndOptions {
  readonly now: number;
  readonly chargeAt: ChargeAt;
  /** Whether the price is refunded. Parts for which a receipt has arrived meanwhile are then left in doubt. */
  readonly isRefunded: boolean;
}

/** Ends the parts that are still in doubt. Returns their ids. */
export async function endInDoubt(
  trx: Transaction<Schema>,
  partIds: readonly number[],
  { now, chargeAt, isRefunded }: EndOptions,
): Promise<readonly number[]> {
  if (partIds.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    update sms_part set state = 'unknown', done_at = ${now}
    where id ${inIds(trx, partIds)} and state = 'uncertain' ${isRefunded ? sql`and last_word = ''` : sql``}
    returning id`.execute(trx);
  const over = rows.map(({ id }) => ({ id, state: 'unknown' as const }));
  await settleParts(trx, over, isRefunded ? 'receipt' : chargeAt, now);
  return over.map(({ id }) => id);
}
