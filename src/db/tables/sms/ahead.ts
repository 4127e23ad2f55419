/**
 * Finds and corrects instants that lie in the future because a clock was ahead when they were written. Callers decide
 * what is too far ahead. docs/decisions/0425
 */
import { sql, type Transaction } from 'kysely';
import { isPostgres } from '../../engines/engine.ts';
import type { Schema } from '../../schema/schema.ts';
import { inIds } from '../../statements/lists.ts';
import { stateOf } from './part-state.ts';

/** The waiting parts of one account, on one route and of one priority. */
export interface AccountQueue {
  readonly route: string;
  readonly priority: number;
  readonly accountId: number;
}

/**
 * Finds queues with a part that is due after `after`. The query steps from queue to queue in the index, independent of
 * the number of parts.
 */
export async function findQueuesAhead(trx: Transaction<Schema>, after: number): Promise<readonly AccountQueue[]> {
  const { rows } = await sql<AccountQueue>`
    with recursive queue (route, priority, account_id) as (
      select * from (select p.route, p.priority, p.account_id from sms_part as p where p.state = 'queued'
        order by p.route, p.priority, p.account_id, p.due_at, p.id limit 1) as first
      union all select n.route, n.priority, n.account_id from queue join sms_part as n on n.id = (
        select p.id from sms_part as p where p.state = 'queued'
          and (p.route, p.priority, p.account_id) > (queue.route, queue.priority, queue.account_id)
          order by p.route, p.priority, p.account_id, p.due_at, p.id limit 1))
    select route, priority, account_id as "accountId" from queue where ${after} < (
      select p.due_at from sms_part as p where p.state = 'queued' and p.route = queue.route
        and p.priority = queue.priority and p.account_id = queue.account_id
        order by p.account_id desc, p.due_at desc, p.id desc limit 1)`.execute(trx);
  return rows;
}

interface AheadOptions {
  /** Exclusive; `until` is inclusive, absent: no limit. */
  readonly after: number;
  readonly until?: number;
  /** Latest legitimate due time of a part that waits for a retry. */
  readonly retryUntil: number;
  readonly limit: number;
}

/** Limit of parts of one queue that are examined, the earliest first: many may wait for their time legitimately. */
const MAX_LOOKS = 5_000;

/**
 * Finds parts that were due when they were accepted, and retries that are due too late. A part that had to wait for its
 * sending hours is due later than its message was accepted, and is skipped.
 */
export async function findPartsAhead(
  trx: Transaction<Schema>,
  { route, priority, accountId }: AccountQueue,
  { after, until, retryUntil, limit }: AheadOptions,
): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    select p.id as id from (
      select id, message_id, tries, due_at from sms_part
      where state = 'queued' and route = ${route} and priority = ${priority} and account_id = ${accountId}
        and due_at > ${after} ${until === undefined ? sql`` : sql`and due_at <= ${until}`}
      order by due_at, id limit ${MAX_LOOKS}) as p join sms_message as m on m.id = p.message_id
    where case when p.tries = 0 then p.due_at <= m.created_at else p.due_at > ${retryUntil} end limit ${limit}`.execute(
    trx,
  );
  return rows.map(({ id }) => id);
}

/** Makes parts due now; their validity begins now and keeps its length. Returns how many were still waiting. */
export async function makePartsDue(trx: Transaction<Schema>, partIds: readonly number[], now: number): Promise<number> {
  if (partIds.length === 0) return 0;
  const { rows } = await sql`
    update sms_part set due_at = ${now}, expire_at = expire_at - (due_at - ${now})
    where id ${inIds(trx, partIds)} and ${stateOf('sms_part')} = 'queued' returning id`.execute(trx);
  return rows.length;
}

interface BringBackOptions {
  readonly now: number;
  /** Tolerated difference between the clocks of processes that share the database. */
  readonly toleranceMs: number;
  /** How far in the future the instant may legitimately be; it is set to this. 0: to now. */
  readonly longestMs: number;
  readonly limit: number;
}

/** Instants that may lie in the future, and the rows in which they count. */
const INSTANTS = {
  /** A lease's owner renews it, or it expires as usual. */
  lease: { table: 'sms_part', column: 'lease_until', rows: sql`state = 'submitting'` },
  /** The time for receipts begins with it. */
  submitted: { table: 'sms_part', column: 'submitted_at', rows: sql`state = 'submitted'` },
  uncertain: { table: 'sms_part', column: 'submitted_at', rows: sql`state = 'uncertain'` },
  /** The time for a better word, of parts that a carrier's word made `unknown`. */
  revisable: { table: 'sms_part', column: 'revisable_until', rows: sql`revisable_until is not null` },
  /** The arrival of unmatched receipts. */
  receipt: { table: 'sms_receipt', column: 'received_at', rows: sql`part_id is null` },
} as const;

export type Instant = keyof typeof INSTANTS;

/** Brings back the latest instants that are too far ahead. Returns how many. */
export async function bringBack(
  trx: Transaction<Schema>,
  instant: Instant,
  { now, toleranceMs, longestMs, limit }: BringBackOptions,
): Promise<number> {
  const { rows: condition, ...names } = INSTANTS[instant];
  const [table, column] = [sql.table(names.table), sql.ref(names.column)];
  const { rows } = await sql`
    update ${table} set ${column} = ${now + longestMs} where ${condition} and id in (
      select id from ${table} where ${condition} and ${column} > ${now + longestMs + toleranceMs}
      order by ${column} desc limit ${limit}) returning id`.execute(trx);
  return rows.length;
}

/**
 * Corrects webhook deliveries: those never posted are due at once; others wait `longestMs` at most, for their next try
 * or their lease.
 */
export async function bringBackDeliveries(
  trx: Transaction<Schema>,
  { now, toleranceMs, longestMs, limit }: BringBackOptions,
): Promise<number> {
  const { rows } = await sql`
    with recursive app (id) as (
      select min(app_id) from sms_delivery
      union all select (select min(d.app_id) from sms_delivery as d where d.app_id > app.id) from app where app.id is not null),
    ahead as (select id from app where ${now + toleranceMs} < (select max(d.due_at) from sms_delivery as d where d.app_id = app.id))
    update sms_delivery set due_at = ${now} where id in (
      select d.id from ahead join sms_delivery as d on d.app_id = ahead.id and d.due_at > ${now + toleranceMs}
      where d.tries = 0 or d.due_at > ${now + longestMs + toleranceMs} limit ${limit}
      ${isPostgres(trx) ? sql`for update of d skip locked` : sql``}) returning id`.execute(trx);
  return rows.length;
}
