/** Sweeps parts: expired leases and validity, and responses and receipts that did not arrive in time. */
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { ChargeAt } from '#model/sms-part.ts';
import type { Schema } from '../../schema/schema.ts';
import { inIds, rowList } from '../../statements/lists.ts';
import { BOUND_TO } from './claim.ts';
import { refundParts, settleParts } from './money.ts';

/** Options of functions that end parts: each returns the parts that it has ended, at most `limit`. */
export interface SweepOptions {
  readonly now: number;
  readonly limit: number;
}

interface RenewOptions {
  readonly owner: string;
  readonly partIds: readonly number[];
  readonly before: number;
  readonly until: number;
}

/** Renews the leases of this process's parts, which are its own while it lives. */
export async function renewLeases(
  trx: Transaction<Schema>,
  { owner, partIds, before, until }: RenewOptions,
): Promise<void> {
  if (partIds.length === 0) return;
  await trx
    .updateTable('sms_part')
    .set({ lease_until: until })
    .where('state', '=', sql.lit('submitting'))
    .where('lease_until', '<', before)
    .where('lease_owner', '=', owner)
    .where(sql<boolean>`id ${inIds(trx, partIds)}`)
    .execute();
}

interface LeaseOptions {
  readonly now: number;
  /** Name of the calling process. */
  readonly owner: string;
  /** No other process uses the database: all other holders of leases have ended. */
  readonly isAlone: boolean;
}

/** Marks parts in flight of a process that died or stalled as uncertain: it is unknown whether they were sent. */
export async function loseLeases(trx: Transaction<Schema>, options: LeaseOptions): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update sms_part set state = 'uncertain', error = 'interrupted', lease_until = null
    where state = 'submitting' and ${isLost(options)} returning id`.execute(trx);
  return rows.length;
}

/**
 * Requeues parts that a process gave to a loopback connector when it died or stalled: those connectors send nothing.
 * Call it before `loseLeases`.
 */
export async function queueSimulatedAgain(trx: Transaction<Schema>, options: LeaseOptions): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update sms_part set state = 'queued', connector_id = ${BOUND_TO}, lease_owner = null, lease_until = null
    where state = 'submitting' and ${isLost(options)}
      and connector_id in (select id from sms_connector where kind = 'loopback') returning id`.execute(trx);
  return rows.length;
}

interface ForgottenOptions extends Omit<LeaseOptions, 'isAlone'> {
  /** Parts that the caller is sending: it may have been paused since it renewed their leases. */
  readonly underWay: readonly number[];
  /** Whether the caller has given the part to a carrier lately. */
  wasSent(partId: number): boolean;
}

/**
 * Settles parts that the caller holds without knowing. Those that it has not sent are queued again: a broken connection
 * lost the answer to the commit that claimed them. Of those that it has sent, the result is missing after a fail-over
 * that lost it: they become uncertain. Returns how many of each.
 */
export async function settleForgotten(
  trx: Transaction<Schema>,
  { now, owner, underWay, wasSent }: ForgottenOptions,
): Promise<{ readonly queued: number; readonly lost: number }> {
  const own = sql`state = 'submitting' and lease_owner = ${owner} and lease_until < ${now}`;
  const found = await sql<{ id: number }>`
    select id from sms_part where ${own} and not id ${inIds(trx, underWay)}`.execute(trx);
  const ids = found.rows.map(({ id }) => id);
  const [sent, unsent] = [ids.filter(wasSent), ids.filter((id) => !wasSent(id))];
  const settled = async (partIds: readonly number[], values: RawBuilder<unknown>) => {
    if (partIds.length === 0) return 0;
    const { rows } = await sql`
      update sms_part set ${values} where ${own} and id ${inIds(trx, partIds)} returning id`.execute(trx);
    return rows.length;
  };
  return {
    queued: await settled(
      unsent,
      sql`state = 'queued', sends = sends - 1, connector_id = ${BOUND_TO}, lease_owner = null, lease_until = null`,
    ),
    lost: await settled(sent, sql`state = 'uncertain', error = 'interrupted', lease_until = null`),
  };
}

function isLost({ now, owner, isAlone }: LeaseOptions) {
  return sql`lease_owner <> ${owner} ${isAlone ? sql`` : sql`and lease_until < ${now}`}`;
}

/** Ends parts whose validity was over before they were sent: the price is refunded. */
export async function expireParts(trx: Transaction<Schema>, { now, limit }: SweepOptions): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    update sms_part set state = 'expired', done_at = ${now}, error = 'expired'
    where id in (select id from sms_part where state = 'queued' and expire_at > 0 and expire_at <= ${now} order by expire_at limit ${limit})
      and state = 'queued' returning id`.execute(trx);
  const expired = rows.map(({ id }) => id);
  await refundParts(trx, expired, now);
  return expired;
}

interface GiveUpOptions extends SweepOptions {
  readonly state: 'uncertain' | 'submitted';
  readonly waitMs: number;
  readonly chargeAt: ChargeAt;
  /** Connectors whose parts are left alone. */
  readonly exceptConnectors?: readonly number[];
}

/** Ends parts whose outcome will never be known. */
export async function giveUpParts(
  trx: Transaction<Schema>,
  { now, limit, state, waitMs, chargeAt, exceptConnectors = [] }: GiveUpOptions,
): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    update sms_part set state = 'unknown', done_at = ${now}
    where id in (select id from sms_part where state = ${sql.lit(state)} and submitted_at <= ${now - waitMs}
        and not coalesce(connector_id, 0) ${inIds(trx, exceptConnectors)}
        order by submitted_at limit ${limit})
      and state = ${state} returning id`.execute(trx);
  const over = rows.map(({ id }) => ({ id, state: 'unknown' as const }));
  await settleParts(trx, over, chargeAt, now);
  return over.map(({ id }) => id);
}

/** Settles the price of `unknown` parts whose time for a better word is over. Returns how many. */
export async function settleUnknown(
  trx: Transaction<Schema>,
  { now, limit, chargeAt }: SweepOptions & { readonly chargeAt: ChargeAt },
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update sms_part set revisable_until = null
    where id in (select id from sms_part where revisable_until <= ${now} order by revisable_until limit ${limit})
      and revisable_until <= ${now} returning id`.execute(trx);
  const over = rows.map(({ id }) => ({ id, state: 'unknown' as const }));
  await settleParts(trx, over, chargeAt, now);
  return over.length;
}

/**
 * Requeues uncertain parts of notices (`smsType` 2), for apps that prefer duplicates to losses: at most `maxSends`
 * sends in all.
 */
export async function queueUncertainAgain(
  trx: Transaction<Schema>,
  { now, limit, waitMs, maxSends }: SweepOptions & { readonly waitMs: number; readonly maxSends: number },
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update sms_part set state = 'queued', due_at = ${now}, lease_owner = null, lease_until = null
    where state = 'uncertain' and id in (
      select p.id from sms_part as p join sms_message as m on m.id = p.message_id join sms_app as a on a.id = m.app_id
      where p.state = 'uncertain' and p.submitted_at <= ${now - waitMs} and p.sends < ${maxSends} and m.sms_type = 2
        and m.kind = 'ordinary' and a.settings like '%"resendUncertain":true%'
      order by p.submitted_at limit ${limit}) returning id`.execute(trx);
  return rows.length;
}

/**
 * Rejects waiting parts to numbers that have opted out: they are not sent and not paid. `accountId` 0: of all accounts.
 */
export async function rejectOptedOut(
  trx: Transaction<Schema>,
  optOuts: readonly { readonly accountId: number; readonly number: string }[],
  now: number,
): Promise<readonly number[]> {
  if (optOuts.length === 0) return [];
  const rows = optOuts.map(({ accountId, number }) => [accountId, number]);
  const { rows: parts } = await sql<{ id: number }>`
    update sms_part set state = 'rejected', done_at = ${now}, error = 'optOut'
    where state = 'queued' and id in (
      select p.id from ${rowList(trx, rows)} join sms_message as m on m.destination = value ->> 1
        and m.kind = 'advertising' and cast(value ->> 0 as integer) in (0, m.account_id)
        join sms_part as p on p.message_id = m.id where p.state = 'queued') returning id`.execute(trx);
  const rejected = parts.map(({ id }) => id);
  await refundParts(trx, rejected, now);
  return rejected;
}
