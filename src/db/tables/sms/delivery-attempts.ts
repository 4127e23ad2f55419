/** The last attempts to post to the webhook of each app. docs/decisions/0680 */
import { sql, type Transaction } from 'kysely';
import type { DeliveryAttempt, DeliveryEvent, DeliveryOutcome } from '#model/webhook.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { rowList } from '../../statements/lists.ts';

/** Attempts of an app that are kept. */
export const KEPT_ATTEMPTS = 100;
/** Waiting deliveries of an app that are counted. */
const MAX_COUNTED = 10_000;

/** Stores attempts in order, and deletes the oldest of each app. */
export async function storeDeliveryAttempts(
  trx: Transaction<Schema>,
  attempts: readonly DeliveryAttempt[],
): Promise<void> {
  const rows = attempts.map(({ appId, deliveryId, event, sendid, at, tookMs, tries, ...end }) => [
    ...[appId, deliveryId, event, sendid, at, tookMs, tries],
    ...[end.outcome, end.status, end.reason, end.answer],
  ]);
  await sql`
    insert into sms_delivery_attempt
        (app_id, delivery_id, kind, sendid, at, took_ms, tries, outcome, status, reason, answer)
      select cast(value ->> 0 as integer), cast(value ->> 1 as bigint), value ->> 2, value ->> 3,
        cast(value ->> 4 as bigint), cast(value ->> 5 as integer), cast(value ->> 6 as integer), value ->> 7,
        cast(value ->> 8 as integer), value ->> 9, value ->> 10 from ${rowList(trx, rows)}`.execute(trx);
  for (const appId of new Set(attempts.map((attempt) => attempt.appId)))
    await sql`
      delete from sms_delivery_attempt where app_id = ${appId} and id <= (
        select id from sms_delivery_attempt where app_id = ${appId}
        order by id desc limit 1 offset ${sql.lit(KEPT_ATTEMPTS)})`.execute(trx);
}

/** Lists the attempts of an app, newest first. */
export async function listDeliveryAttempts(x: Executor, appId: number): Promise<readonly DeliveryAttempt[]> {
  return await x
    .selectFrom('sms_delivery_attempt')
    .select(['app_id as appId', 'delivery_id as deliveryId', 'sendid', 'at', 'took_ms as tookMs'])
    .select(['tries', 'status', 'reason', 'answer'])
    // Nothing else is ever written.
    .select((e) => e.ref('outcome').$castTo<DeliveryOutcome>().as('outcome'))
    .select((e) => e.ref('kind').$castTo<DeliveryEvent>().as('event'))
    .where('app_id', '=', appId)
    .orderBy('id', 'desc')
    .limit(KEPT_ATTEMPTS)
    .execute();
}

/** Number of deliveries that wait to be posted to the app's webhook, at most 10,000. */
export async function countWaitingDeliveries(x: Executor, appId: number): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*) as waiting from (
      select 1 from sms_delivery where app_id = ${appId} limit ${sql.lit(MAX_COUNTED)}) as d`.execute(x);
  return Number(rows[0]?.waiting ?? 0);
}
