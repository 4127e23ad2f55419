/** Webhooks for events, one of each account and one of the operator, and the queue of what is posted there. */
import { sql, type Transaction } from 'kysely';
import { DAY_MS, HOUR_MS } from '#lib/durations.ts';
import type { ServiceEvent } from '#model/event.ts';
import type { StoredWebhook, Webhook } from '#model/webhook.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { type Keyring, KeyringError } from '../../secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '../../secrets/sealing.ts';

/** The operator's receiver, which gets every event. */
export const OPERATOR = 0;

/** Events that wait for one receiver; beyond it the oldest are dropped. They stay in the list of events. */
const MAX_WAITING = 10_000;
/** Retention of deliveries: longer than all tries take. */
const DELIVERY_KEEP_MS = 2 * DAY_MS;
/** Longest time until a delivery is due; one that is later was written by a clock that was ahead. */
const LONGEST_WAIT_MS = 2 * HOUR_MS;

/** Queues an event for the operator's webhook and that of its account, if there are any. */
export async function queueEvent(trx: Transaction<Schema>, event: ServiceEvent): Promise<void> {
  const wanted = [OPERATOR, ...(event.accountId === undefined ? [] : [event.accountId])];
  const found = await trx.selectFrom('event_webhook').select('receiver').where('receiver', 'in', wanted).execute();
  for (const { receiver } of found) {
    await trx
      .insertInto('event_delivery')
      .values({
        receiver,
        event_id: event.id,
        body: JSON.stringify(event),
        due_at: event.at,
        created_at: event.at,
      })
      .execute();
    await sql`
      delete from event_delivery where receiver = ${receiver} and id <= (
        select id from event_delivery where receiver = ${receiver} order by id desc limit 1 offset ${sql.lit(MAX_WAITING)})`.execute(
      trx,
    );
  }
}

/** Saves the webhook of a receiver; `undefined` removes it, and what waits for it. */
export async function saveEventWebhook(
  trx: Transaction<Schema>,
  ring: Keyring,
  { receiver, webhook, now }: { receiver: number; webhook: Webhook | undefined; now: number },
): Promise<void> {
  if (webhook === undefined) {
    await trx.deleteFrom('event_webhook').where('receiver', '=', receiver).execute();
    await trx.deleteFrom('event_delivery').where('receiver', '=', receiver).execute();
    return;
  }
  const secret = seal(ring, eventSecretLocation(receiver), Buffer.from(webhook.secret));
  const values = { url: webhook.url, secret, changed_at: now };
  await trx
    .insertInto('event_webhook')
    .values({ receiver, ...values })
    .onConflict((conflict) => conflict.column('receiver').doUpdateSet(values))
    .execute();
}

/** Returns the webhook of a receiver; `undefined` if it has none. */
export async function findEventWebhook(
  x: Executor,
  ring: Keyring,
  receiver: number,
): Promise<StoredWebhook | undefined> {
  const row = await x
    .selectFrom('event_webhook')
    .select(['url', 'secret'])
    .where('receiver', '=', receiver)
    .executeTakeFirst();
  if (row === undefined || row.secret === '') return row && { url: row.url };
  try {
    return { url: row.url, secret: unseal(ring, eventSecretLocation(receiver), row.secret).toString() };
  } catch (error) {
    if (error instanceof KeyringError) return { url: row.url };
    throw error;
  }
}

/** Number of events that wait to be posted, and the age of the oldest; both 0 if none waits. */
export async function readEventBacklog(
  x: Executor,
  now: number,
): Promise<{ readonly deliveries: number; readonly oldestMs: number }> {
  const { deliveries, oldest } = await x
    .selectFrom('event_delivery')
    .select((e) => [e.fn.countAll<number>().as('deliveries'), e.fn.min<number | null>('created_at').as('oldest')])
    .executeTakeFirstOrThrow();
  return { deliveries: Number(deliveries), oldestMs: oldest === null ? 0 : Math.max(0, now - Number(oldest)) };
}

/** Deletes deliveries that failed for too long, and brings back those that a clock which was ahead made due too late. */
export async function tidyEventDeliveries(trx: Transaction<Schema>, now: number): Promise<void> {
  await trx
    .deleteFrom('event_delivery')
    .where('created_at', '<', now - DELIVERY_KEEP_MS)
    .execute();
  await trx
    .updateTable('event_delivery')
    .set({ due_at: now })
    .where('due_at', '>', now + LONGEST_WAIT_MS)
    .execute();
}

function eventSecretLocation(receiver: number): SecretLocation {
  return { table: 'event_webhook', row: receiver, column: 'secret' };
}
