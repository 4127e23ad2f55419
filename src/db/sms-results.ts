/** What came of parts that went out, many at once: their states, the money, and receipts that were there before the answer. */
import { sql, type Transaction } from 'kysely';
import { type PartEvent, type PartOutcome, partStatesThatAllow } from '#model/sms-part.ts';
import { rowList } from './row-list.ts';
import type { Schema } from './schema.ts';
import { chargeParts, ids, refundParts } from './sms-money.ts';
import { applyOrphans } from './sms-receipts.ts';

export interface PartResult {
  readonly partId: number;
  readonly connectorId: number;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly outcome: PartOutcome;
}

/** Gives the parts that came to an end. A result of a part that has ended already changes nothing. */
export async function storeResults(
  trx: Transaction<Schema>,
  results: readonly PartResult[],
  now: number,
): Promise<readonly number[]> {
  if (results.length === 0) return [];
  const byKind = Map.groupBy(results, ({ outcome }) => outcome.kind);
  const reported = await storeAccepted(trx, byKind.get('accepted') ?? [], now);
  const simulated = await storeSimulated(trx, byKind.get('simulated') ?? [], now);
  const refused = await storeRefused(trx, byKind.get('refused') ?? [], now);
  await storePostponed(trx, byKind.get('postponed') ?? []);
  await storeLost(trx, byKind.get('lost') ?? []);
  await noteAttempts(trx, results);
  return [...reported, ...simulated, ...refused];
}

async function storeAccepted(trx: Transaction<Schema>, results: readonly PartResult[], now: number) {
  const parts = results.flatMap(({ partId, outcome }) =>
    outcome.kind === 'accepted' ? [{ id: partId, ...outcome }] : [],
  );
  const rows = parts.map(({ id, carrierId, keys }) => [id, carrierId, keys[0] ?? null]);
  if (rows.length === 0) return [];
  const taken = await sql<{ id: number }>`
    update sms_part set state = 'submitted', carrier_id = v.carrier_id, carrier_key = v.carrier_key, error = '',
      lease_owner = null, lease_until = null
    from (select cast(value ->> 0 as bigint) as id, value ->> 1 as carrier_id, value ->> 2 as carrier_key
      from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id and sms_part.state in ${statesFor('accept')} returning sms_part.id as id`.execute(trx);
  const takenIds = new Set(taken.rows.map(({ id }) => id));
  await chargeParts(trx, [...takenIds], now);
  return await applyOrphans(
    trx,
    parts.filter(({ id }) => takenIds.has(id)),
    now,
  );
}

async function storeSimulated(trx: Transaction<Schema>, results: readonly PartResult[], now: number) {
  if (results.length === 0) return [];
  const parts = results.map(({ partId }) => partId);
  const { rows } = await sql<{ id: number }>`
    update sms_part set state = 'simulated', done_at = ${now}, error = '', lease_owner = null, lease_until = null
    where id in ${ids(trx, parts)} and state in ${statesFor('simulate')} returning id`.execute(trx);
  const done = rows.map(({ id }) => id);
  await chargeParts(trx, done, now);
  return done;
}

/** What a message's other parts are worth without this one: those that wait do not go out. */
const OTHER_PART = 'otherPart';

async function storeRefused(trx: Transaction<Schema>, results: readonly PartResult[], now: number) {
  const rows = results.flatMap(({ partId, outcome }) => (outcome.kind === 'refused' ? [[partId, outcome.error]] : []));
  if (rows.length === 0) return [];
  const failed = await sql<{ id: number; messageId: number }>`
    update sms_part set state = 'failed', done_at = ${now}, error = v.error, lease_owner = null, lease_until = null,
      sends = sends - 1
    from (select cast(value ->> 0 as bigint) as id, value ->> 1 as error from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id and sms_part.state in ('submitting', 'uncertain')
    returning sms_part.id as id, sms_part.message_id as "messageId"`.execute(trx);
  const messages = failed.rows.map(({ messageId }) => messageId);
  const others = await sql<{ id: number }>`
    update sms_part set state = 'failed', done_at = ${now}, error = ${OTHER_PART}
    where message_id in ${ids(trx, messages)} and state = 'queued' returning id`.execute(trx);
  const done = [...failed.rows, ...others.rows].map(({ id }) => id);
  await refundParts(trx, done, now);
  return done;
}

async function storePostponed(trx: Transaction<Schema>, results: readonly PartResult[]): Promise<void> {
  const rows = results.flatMap(({ partId, outcome }) =>
    outcome.kind === 'postponed' ? [[partId, outcome.dueAt ?? null, outcome.error]] : [],
  );
  if (rows.length === 0) return;
  await sql`
    update sms_part set state = 'queued', due_at = coalesce(v.due_at, sms_part.due_at),
      tries = tries + case when v.due_at is null then 0 else 1 end, error = v.error,
      sends = sends - 1, lease_owner = null, lease_until = null
    from (select cast(value ->> 0 as bigint) as id, cast(value ->> 1 as bigint) as due_at, value ->> 2 as error
      from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id and sms_part.state in ${statesFor('postpone')}`.execute(trx);
}

async function storeLost(trx: Transaction<Schema>, results: readonly PartResult[]): Promise<void> {
  const rows = results.flatMap(({ partId, outcome }) => (outcome.kind === 'lost' ? [[partId, outcome.error]] : []));
  if (rows.length === 0) return;
  await sql`
    update sms_part set state = 'uncertain', error = v.error, lease_owner = null, lease_until = null
    from (select cast(value ->> 0 as bigint) as id, value ->> 1 as error from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id and sms_part.state in ${statesFor('lose')}`.execute(trx);
}

/** Those that ended well say so in the part itself. */
async function noteAttempts(trx: Transaction<Schema>, results: readonly PartResult[]): Promise<void> {
  const rows = results.flatMap(({ partId, connectorId, sentAt, endedAt, outcome }) =>
    'error' in outcome ? [[partId, connectorId, sentAt, endedAt, outcome.kind, outcome.error]] : [],
  );
  if (rows.length === 0) return;
  await sql`
    insert into sms_attempt (part_id, connector_id, sent_at, ended_at, outcome, error)
      select cast(value ->> 0 as bigint), cast(value ->> 1 as integer), cast(value ->> 2 as bigint),
        cast(value ->> 3 as bigint), value ->> 4, value ->> 5 from ${rowList(trx, rows)}`.execute(trx);
}

function statesFor(event: PartEvent) {
  return sql`(${sql.join(partStatesThatAllow(event).map((state) => sql.lit(state)))})`;
}
