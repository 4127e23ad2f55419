/** Queues of webhook deliveries: claimed under a lease, the longest waiting receiver first. docs/decisions/0224 */
import { sql, type Transaction } from 'kysely';
import type { DeliveryClaim, DueDelivery, StoredWebhook } from '#model/webhook.ts';
import type { Executor, Schema } from '../schema/schema.ts';

/** Tables of deliveries, with the column that names the receiver. */
const QUEUES = { sms_delivery: 'app_id', event_delivery: 'receiver' } as const;
export type DeliveryTable = keyof typeof QUEUES;

/** Finds the webhook of a receiver; `undefined` if there is none any more. */
export type FindWebhook = (x: Executor, receiver: number) => Promise<StoredWebhook | undefined>;

/** Claims due deliveries until `leaseUntil`. Paused receivers are skipped. */
export async function claimDeliveries(
  trx: Transaction<Schema>,
  table: DeliveryTable,
  { now, leaseUntil, limit, limitOfOne, paused }: DeliveryClaim,
  findWebhook: FindWebhook,
): Promise<readonly DueDelivery[]> {
  const due: number[] = [];
  for (const receiver of await findReceiversWithDue(trx, table, now, limit + paused.length)) {
    if (paused.includes(receiver)) continue;
    due.push(...(await findDue(trx, table, { receiver, now, limit: Math.min(limitOfOne, limit - due.length) })));
    if (due.length === limit) break;
  }
  if (due.length === 0) return [];
  const { rows } = await sql<{ id: number; receiver: number; body: string; tries: number }>`
    update ${sql.table(table)} set due_at = ${leaseUntil}, tries = tries + 1
      where id in (${sql.join(due)}) and due_at <= ${now}
      returning id, ${sql.ref(QUEUES[table])} as receiver, body, tries`.execute(trx);
  const webhooks = new Map<number, DueDelivery['webhook']>();
  for (const { receiver } of rows)
    if (!webhooks.has(receiver)) webhooks.set(receiver, openWebhook(await findWebhook(trx, receiver)));
  return rows.map((row) => ({ ...row, webhook: webhooks.get(row.receiver) ?? 'none' }));
}

/**
 * Finds receivers with due deliveries, the longest waiting first. The query skips from receiver to receiver in the index:
 * a paused one may have millions of rows, none of which is read.
 */
async function findReceiversWithDue(
  trx: Transaction<Schema>,
  table: DeliveryTable,
  now: number,
  limit: number,
): Promise<readonly number[]> {
  const [queue, column] = [sql.table(table), sql.ref(QUEUES[table])];
  const { rows } = await sql<{ receiver: number }>`
    with recursive own (id) as (
      select min(${column}) from ${queue}
      union all select (select min(d.${column}) from ${queue} as d where d.${column} > own.id)
        from own where own.id is not null)
    select a.id as receiver
      from (select id, (select min(d.due_at) from ${queue} as d where d.${column} = own.id) as due_at from own) as a
      where a.due_at <= ${now} order by a.due_at, a.id limit ${limit}`.execute(trx);
  return rows.map(({ receiver }) => receiver);
}

async function findDue(
  trx: Transaction<Schema>,
  table: DeliveryTable,
  { receiver, now, limit }: { readonly receiver: number; readonly now: number; readonly limit: number },
): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from ${sql.table(table)} where ${sql.ref(QUEUES[table])} = ${receiver} and due_at <= ${now}
      order by due_at, id limit ${limit}`.execute(trx);
  return rows.map(({ id }) => id);
}

/** A secret that cannot be unsealed must not delay other receivers. */
function openWebhook(found: StoredWebhook | undefined): DueDelivery['webhook'] {
  if (found === undefined) return 'none';
  return found.secret === undefined ? 'locked' : { url: found.url, secret: found.secret };
}

/** Deletes a delivery that was accepted or given up. */
export async function deleteDelivery(x: Executor, table: DeliveryTable, id: number): Promise<void> {
  await sql`delete from ${sql.table(table)} where id = ${id}`.execute(x);
}

export async function postponeDelivery(
  x: Executor,
  table: DeliveryTable,
  { id, dueAt, error }: { readonly id: number; readonly dueAt: number; readonly error: string },
): Promise<void> {
  await sql`update ${sql.table(table)} set due_at = ${dueAt}, error = ${error} where id = ${id}`.execute(x);
}
