/** Stores outcomes of sent parts, many at once: states, money, and receipts that arrived before the response. */
import { sql, type Transaction } from 'kysely';
import { type ChargeAt, PART_EVENTS, type PartEvent, type PartOutcome } from '#model/sms-part.ts';
import type { RowValues } from '../../engines/sqlite/messages.ts';
import type { Schema } from '../../schema/schema.ts';
import { runBatch } from '../../statements/batch.ts';
import { inIds, rowList } from '../../statements/lists.ts';
import { rowStatement } from '../../statements/statement.ts';
import { BOUND_TO } from './claim.ts';
import { chargeSimulated, chargeSubmitted, refundParts } from './money.ts';
import { selectOrphans, settleOrphans } from './orphans.ts';
import { stateOf } from './part-state.ts';

export interface PartResult {
  readonly partId: number;
  readonly connectorId: number;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly outcome: PartOutcome;
}

interface StoreOptions {
  /** Name of the calling process, which may requeue only its own unsent parts. */
  readonly owner: string;
  readonly now: number;
  readonly chargeAt: ChargeAt;
}

/** Stores results. Returns the parts that they ended. A result of a part that has ended already is ignored. */
export async function storeResults(
  trx: Transaction<Schema>,
  results: readonly PartResult[],
  { owner, now, chargeAt }: StoreOptions,
): Promise<readonly number[]> {
  if (results.length === 0) return [];
  const { accepted, simulated, refused, postponed, lost, attempts } = sort(results);
  const [done, failed, orphans] = await runBatch(trx, [
    simulated.length > 0 ? updateSimulated(trx, simulated, now) : undefined,
    refused.length > 0 ? updateRefused(trx, refused, now) : undefined,
    accepted.length > 0 ? selectOrphans({ answered: accepted.flatMap(keyRows) }) : undefined,
    updateAccepted(trx, accepted.map(acceptedRow)),
    postponed.length > 0 ? updatePostponed(trx, postponed, owner) : undefined,
    lost.length > 0 ? updateLost(trx, lost) : undefined,
    attempts.length > 0 ? insertAttempts(trx, attempts) : undefined,
    // After the statements that set these states.
    chargeAt === 'submit' ? chargeSubmitted({ partIds: accepted.map(partIdOf), now }) : undefined,
    simulated.length > 0 ? chargeSimulated({ partIds: simulated.map(partIdOf), now }) : undefined,
  ] as const);
  const reported = await settleOrphans(trx, orphans, { now, chargeAt, answersAfterMs: () => Number.POSITIVE_INFINITY });
  return [...reported, ...done.map(({ id }) => id), ...(await failWithOthers(trx, failed, now))];
}

type Outcome<K extends PartOutcome['kind']> = Extract<PartOutcome, { kind: K }>;
type Result<K extends PartOutcome['kind']> = Omit<PartResult, 'outcome'> & { readonly outcome: Outcome<K> };

function sort(results: readonly PartResult[]) {
  return {
    accepted: ofKind(results, 'accepted'),
    simulated: ofKind(results, 'simulated'),
    refused: ofKind(results, 'refused'),
    postponed: ofKind(results, 'postponed'),
    lost: ofKind(results, 'lost'),
    // A successful try is stored in the part itself.
    attempts: [...ofKind(results, 'refused'), ...ofKind(results, 'postponed'), ...ofKind(results, 'lost')],
  };
}

function ofKind<K extends PartOutcome['kind']>(results: readonly PartResult[], kind: K): readonly Result<K>[] {
  return results.filter((result): result is PartResult & Result<K> => result.outcome.kind === kind);
}

function partIdOf({ partId }: Pick<PartResult, 'partId'>): number {
  return partId;
}

function acceptedRow({ partId, outcome }: Result<'accepted'>): RowValues {
  return [outcome.carrierId, outcome.keys[0] ?? null, partId];
}

function keyRows({ connectorId, outcome }: Result<'accepted'>): readonly RowValues[] {
  return outcome.keys.map((key) => [connectorId, key]);
}

/** No `returning`: in SQLite each returned row takes as long as its update. */
const updateAccepted = rowStatement({ carrier_id: 'text', carrier_key: 'text', id: 'bigint' }, ({ v, from, among }) => {
  return sql`
    update sms_part set state = 'submitted', carrier_id = ${v.carrier_id}, carrier_key = ${v.carrier_key}, error = '',
      lease_owner = null, lease_until = null
    ${from} where sms_part.id = ${v.id} and ${among(sql`sms_part.id`, 'id')} and ${stateOf('sms_part')} in ${statesFor('accept')}`;
});

function updateSimulated(trx: Transaction<Schema>, simulated: readonly Result<'simulated'>[], now: number) {
  return sql<{ id: number }>`
    update sms_part set state = 'simulated', done_at = ${now}, error = '', lease_owner = null, lease_until = null
    where id ${inIds(trx, simulated.map(partIdOf))} and state in ${statesFor('simulate')} returning id`;
}

interface FailedPart {
  readonly id: number;
  readonly messageId: number;
}

function updateRefused(trx: Transaction<Schema>, refused: readonly Result<'refused'>[], now: number) {
  const rows = refused.map(({ partId, outcome }) => [partId, outcome.error]);
  return sql<FailedPart>`
    update sms_part set state = 'failed', done_at = ${now}, error = v.error, lease_owner = null, lease_until = null,
      sends = sends - 1
    from (select cast(value ->> 0 as bigint) as id, value ->> 1 as error from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id and sms_part.state in ${statesFor('refuse')}
    returning sms_part.id as id, sms_part.message_id as "messageId"`;
}

/** Error of waiting parts whose message lost another part: they are not sent. */
const OTHER_PART = 'otherPart';

async function failWithOthers(trx: Transaction<Schema>, failed: readonly FailedPart[], now: number) {
  if (failed.length === 0) return [];
  const messages = failed.map(({ messageId }) => messageId);
  const others = await sql<{ id: number }>`
    update sms_part set state = 'failed', done_at = ${now}, error = ${OTHER_PART}
    where message_id ${inIds(trx, messages)} and state = 'queued' returning id`.execute(trx);
  const done = [...failed, ...others.rows].map(({ id }) => id);
  await refundParts(trx, done, now);
  return done;
}

/** Requeues parts, except those that another process has claimed since and may be sending. */
function updatePostponed(trx: Transaction<Schema>, postponed: readonly Result<'postponed'>[], owner: string) {
  const rows = postponed.map(({ partId, outcome }) => [partId, outcome.dueAt ?? null, outcome.error]);
  return sql`
    update sms_part set state = 'queued', due_at = coalesce(v.due_at, sms_part.due_at),
      tries = tries + case when v.due_at is null then 0 else 1 end, error = v.error,
      sends = sends - 1, connector_id = ${BOUND_TO}, lease_owner = null, lease_until = null
    from (select cast(value ->> 0 as bigint) as id, cast(value ->> 1 as bigint) as due_at, value ->> 2 as error
      from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id and sms_part.state in ${statesFor('postpone')}
      and (sms_part.lease_owner is null or sms_part.lease_owner = ${owner})`;
}

function updateLost(trx: Transaction<Schema>, lost: readonly Result<'lost'>[]) {
  const rows = lost.map(({ partId, outcome }) => [partId, outcome.error]);
  return sql`
    update sms_part set state = 'uncertain', error = v.error, lease_owner = null, lease_until = null
    from (select cast(value ->> 0 as bigint) as id, value ->> 1 as error from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id and sms_part.state in ${statesFor('lose')}`;
}

function insertAttempts(trx: Transaction<Schema>, attempts: readonly Result<'refused' | 'postponed' | 'lost'>[]) {
  const rows = attempts.map(({ partId, connectorId, sentAt, endedAt, outcome }) => [
    ...[partId, connectorId, sentAt, endedAt, outcome.kind, outcome.error],
  ]);
  return sql`
    insert into sms_attempt (part_id, connector_id, sent_at, ended_at, outcome, error)
      select cast(value ->> 0 as bigint), cast(value ->> 1 as integer), cast(value ->> 2 as bigint),
        cast(value ->> 3 as bigint), value ->> 4, value ->> 5 from ${rowList(trx, rows)}`;
}

function statesFor(event: PartEvent) {
  return sql`(${sql.join(PART_EVENTS[event].from.map((state) => sql.lit(state)))})`;
}
