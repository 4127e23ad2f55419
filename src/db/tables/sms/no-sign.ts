/** Parts in doubt of which nothing was ever heard, and whether their carrier tells of its parts at all. docs/decisions/0426 */
import { sql, type Transaction } from 'kysely';
import type { ChargeAt } from '#model/sms-part.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { inIds } from '../../statements/lists.ts';
import { settleParts } from './money.ts';

interface SilentOptions {
  readonly connectorId: number;
  /** Only parts sent until then. */
  readonly submittedUntil: number;
  readonly limit: number;
}

export interface PartInDoubt {
  readonly id: number;
  /** A receipt came that is, or may be, its own: one that is not the last word, or one that waits and names its number or none. */
  readonly hasSign: boolean;
}

/** Parts in doubt of a connector that waited long enough, the oldest first. */
export async function findLongInDoubt(
  x: Executor,
  { connectorId, submittedUntil, limit }: SilentOptions,
): Promise<readonly PartInDoubt[]> {
  // Receipts that wait are read once, however many parts there are.
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

export interface ToldShare {
  /** Parts that the carrier took and has not told the end of. */
  readonly untold: number;
  /** Parts that it told the end of; counted up to what `untold` makes necessary. */
  readonly told: number;
}

/** How many of a connector's parts that were taken since `since` have had their receipt. `toldNeeded`: that are counted at most. */
export async function readToldShare(
  x: Executor,
  connectorId: number,
  since: number,
  toldNeeded: (untold: number) => number,
): Promise<ToldShare> {
  const untold = await countOf(
    x,
    sql`select 1 from sms_part where state = 'submitted' and submitted_at > ${since} and connector_id = ${connectorId}`,
  );
  const told = await countOf(
    x,
    sql`select distinct r.part_id from sms_receipt as r join sms_part as p on p.id = r.part_id
      where r.received_at > ${since} and r.connector_id = ${connectorId} and r.state <> 'onTheWay'
        and p.connector_id = ${connectorId} and p.submitted_at > ${since}
      limit ${toldNeeded(untold)}`,
  );
  return { untold, told };
}

async function countOf(x: Executor, rows: ReturnType<typeof sql>): Promise<number> {
  const { rows: found } = await sql<{ count: number }>`select count(*) as count from (${rows}) as counted`.execute(x);
  return Number(found[0]?.count ?? 0);
}

interface EndOptions {
  readonly now: number;
  readonly chargeAt: ChargeAt;
  /** Whether the price is refunded. Parts for which a receipt has arrived meanwhile are then left in doubt. */
  readonly isGivenBack: boolean;
}

/** Ends those of the parts that are in doubt still. Returns which they are. */
export async function endInDoubt(
  trx: Transaction<Schema>,
  partIds: readonly number[],
  { now, chargeAt, isGivenBack }: EndOptions,
): Promise<readonly number[]> {
  if (partIds.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    update sms_part set state = 'unknown', done_at = ${now}
    where id ${inIds(trx, partIds)} and state = 'uncertain' ${isGivenBack ? sql`and last_word = ''` : sql``}
    returning id`.execute(trx);
  const over = rows.map(({ id }) => ({ id, state: 'unknown' as const }));
  await settleParts(trx, over, isGivenBack ? 'receipt' : chargeAt, now);
  return over.map(({ id }) => id);
}
