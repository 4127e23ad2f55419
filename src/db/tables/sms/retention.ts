/** Deletes old SMS data in small steps. The ledger is kept whole, as its sum is the balance. docs/decisions/0286 */
import { sql, type Transaction } from 'kysely';
import { isFinal, PART_STATES } from '#model/sms-part.ts';
import type { Schema } from '../../schema/schema.ts';
import { inIds } from '../../statements/lists.ts';

/** Requests examined at once; one may have a thousand messages. */
const REQUESTS_AT_ONCE = 20;
/** Messages deleted per transaction, which blocks all other writers on SQLite; each has up to nine parts. */
const MESSAGES_AT_ONCE = 200;
const ROWS_AT_ONCE = 1_000;

/**
 * Deletes requests from before `before` whose parts have all ended, with all their data, beginning after the id
 * `after`. Returns the id to continue after; `undefined` if no more are that old. Requests that have not ended are
 * skipped.
 */
export async function deleteOldRequests(
  trx: Transaction<Schema>,
  { before, after }: { readonly before: number; readonly after: number },
): Promise<number | undefined> {
  const rows = await trx
    .selectFrom('sms_request')
    .select(['id', 'created_at'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(REQUESTS_AT_ONCE)
    .execute();
  const old = rows.filter(({ created_at }) => created_at < before).map(({ id }) => id);
  if (old.length === 0) return undefined;
  const unended = new Set(await findUnended(trx, old));
  const requests = old.filter((id) => !unended.has(id));
  const messages = await findMessages(trx, requests);
  await deleteMessages(
    trx,
    messages.map(({ id }) => id),
  );
  await sql`
    delete from sms_request where id ${inIds(trx, requests)}
      and not exists (select 1 from sms_message as m where m.request_id = sms_request.id)`.execute(trx);
  const last = messages.at(-1);
  // The last request may have more messages, so it is examined again.
  if (messages.length === MESSAGES_AT_ONCE && last !== undefined) return last.requestId - 1;
  return rows.at(-1)?.id;
}

const UNENDED = sql.join(PART_STATES.filter((state) => !isFinal(state)).map((state) => sql.lit(state)));

async function findUnended(trx: Transaction<Schema>, requests: readonly number[]): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    select distinct m.request_id as id from sms_message as m join sms_part as p on p.message_id = m.id
    where m.request_id ${inIds(trx, requests)} and (p.state in (${UNENDED}) or p.revisable_until is not null)`.execute(
    trx,
  );
  return rows.map(({ id }) => id);
}

async function findMessages(trx: Transaction<Schema>, requests: readonly number[]) {
  const { rows } = await sql<{ id: number; requestId: number }>`
    select id, request_id as "requestId" from sms_message where request_id ${inIds(trx, requests)}
    order by request_id, id limit ${MESSAGES_AT_ONCE}`.execute(trx);
  return rows;
}

async function deleteMessages(trx: Transaction<Schema>, messages: readonly number[]): Promise<void> {
  if (messages.length === 0) return;
  const list = inIds(trx, messages);
  await sql`delete from sms_attempt where part_id in (select id from sms_part where message_id ${list})`.execute(trx);
  await sql`delete from sms_part where message_id ${list}`.execute(trx);
  await sql`delete from sms_message where id ${list}`.execute(trx);
}

/**
 * Deletes receipts, replies, unread messages and attempts of webhooks from before `before`, and unmatched receipts from before
 * `unmatchedBefore`. Returns false if there are no more.
 */
export async function deleteOldTalk(
  trx: Transaction<Schema>,
  { before, unmatchedBefore }: { readonly before: number; readonly unmatchedBefore: number },
): Promise<boolean> {
  const unmatched = await sql`
    delete from sms_receipt where id in (select id from sms_receipt
      where part_id is null and received_at < ${unmatchedBefore} order by received_at limit ${ROWS_AT_ONCE})`.execute(
    trx,
  );
  const receipts = await sql`
    delete from sms_receipt where id in (
      select id from sms_receipt where received_at < ${before} order by received_at limit ${ROWS_AT_ONCE})`.execute(
    trx,
  );
  // Ids are in order of time, so only the oldest rows are examined.
  const replies = await sql`
    delete from sms_reply where received_at < ${before} and id in (
      select id from sms_reply order by id limit ${ROWS_AT_ONCE})`.execute(trx);
  const unread = await sql`
    delete from sms_unread where id in (
      select id from sms_unread where received_at < ${before} order by received_at limit ${ROWS_AT_ONCE})`.execute(trx);
  const attempts = await sql`
    delete from sms_delivery_attempt where at < ${before} and id in (
      select id from sms_delivery_attempt order by id limit ${ROWS_AT_ONCE})`.execute(trx);
  return [unmatched, receipts, replies, unread, attempts].some(({ numAffectedRows }) => isFull(numAffectedRows));
}

/** Deletes deliveries queued before `before`. Returns false if there are no more. */
export async function deleteOldDeliveries(trx: Transaction<Schema>, before: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from sms_delivery where created_at < ${before} and id in (
      select id from sms_delivery order by id limit ${ROWS_AT_ONCE})`.execute(trx);
  return isFull(numAffectedRows);
}

function isFull(count: bigint | undefined): boolean {
  return count === BigInt(ROWS_AT_ONCE);
}
