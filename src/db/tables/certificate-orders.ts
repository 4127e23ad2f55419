/** Certificate orders. One process at a time works on an order, under a lease. */
import { sql, type Transaction } from 'kysely';
import { toModelNames } from '#lib/model-names.ts';
import {
  type CertificateOrder,
  countDayOrders,
  MAX_ORDERS_PER_DAY,
  NEVER_AT,
  type OrderProblem,
  type OrderState,
  type Validity,
  withoutFuture,
} from '#model/certificate-order.ts';
import { CHALLENGE_KIND } from '#model/challenge.ts';
import { isPostgres } from '../engines/engine.ts';
import type { CertificateOrderRow, Executor, Schema } from '../schema/schema.ts';
import type { SecretLocation } from '../secrets/sealing.ts';
import type { Change } from './resources.ts';

/** Where the private key of an ordered certificate is stored. */
export function orderKeyLocation(domainId: number): SecretLocation {
  return { table: 'certificate_order', row: domainId, column: 'private_key' };
}

export async function findOrder(x: Executor, domainId: number): Promise<CertificateOrder | undefined> {
  const row = await x.selectFrom('certificate_order').selectAll().where('domain_id', '=', domainId).executeTakeFirst();
  return row && toOrder(row);
}

/**
 * Orders a certificate. The caller holds the domain's lock. `asked`: the order is due now. `underWay`: it was already.
 * `limited`: the domain has begun its maximum of orders for the day.
 */
export async function askForCertificate(
  trx: Transaction<Schema>,
  { domainId, sslKey, now }: { readonly domainId: number; readonly sslKey: string; readonly now: number },
): Promise<'asked' | 'underWay' | 'limited'> {
  const present = await findOrder(trx, domainId);
  const isUnderWay = present?.state === 'pending' || present?.state === 'challenged';
  if (isUnderWay && present.sslKey === sslKey) return 'underWay';
  if (present?.state === 'issued' && present.sslKey === sslKey && sslKey !== '') return 'underWay';
  if (present !== undefined && countDayOrders(present, now) >= MAX_ORDERS_PER_DAY) return 'limited';
  const words = { state: 'pending', problem: '', detail: '', ssl_key: sslKey };
  // A process that works on the order has outdated data, so its lease ends.
  const asked = { ...words, failures: 0, requested_at: now, due_at: now, written_at: now, ...RELEASED };
  const unused = {
    issued_key: '',
    url: '',
    challenge_key: '',
    challenge_revision: 0,
    challenge_told_at: 0,
    private_key: '',
    day_began_at: now,
    day_orders: 0,
    renew_at: 0,
    renew_from: 0,
    renew_to: 0,
  };
  await trx
    .insertInto('certificate_order')
    .values({ domain_id: domainId, ...asked, ...unused, ordered_at: 0 })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(asked))
    .execute();
  return 'asked';
}

export interface OrderClaim {
  /** Names the process. */
  readonly owner: string;
  readonly leaseUntil: number;
  readonly now: number;
  readonly limit: number;
}

/** Claims due orders, longest waiting first. Orders that another process holds are skipped. */
export async function claimOrders(
  trx: Transaction<Schema>,
  { owner, leaseUntil, now, limit }: OrderClaim,
): Promise<readonly CertificateOrder[]> {
  let query = trx
    .selectFrom('certificate_order')
    .selectAll()
    .where('due_at', '<=', now)
    .where('lease_until', '<=', now)
    .orderBy('due_at')
    .orderBy('domain_id')
    .limit(limit);
  if (isPostgres(trx)) query = query.forUpdate().skipLocked();
  const rows = await query.execute();
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.domain_id);
  const lease = { lease_owner: owner, lease_until: leaseUntil, written_at: now };
  await trx.updateTable('certificate_order').set(lease).where('domain_id', 'in', ids).execute();
  return rows.map(toOrder);
}

export async function hasDueOrders(x: Executor, now: number): Promise<boolean> {
  const query = x.selectFrom('certificate_order').select('domain_id').where('due_at', '<=', now);
  return (await query.where('lease_until', '<=', now).limit(1).executeTakeFirst()) !== undefined;
}

/** Counts orders in any state, except those that were replaced. */
export async function countOrders(x: Executor): Promise<number> {
  const query = x.selectFrom('certificate_order').select((e) => e.fn.countAll<number>().as('count'));
  return Number((await query.where('problem', '!=', REPLACED).executeTakeFirstOrThrow()).count);
}

/** Another process has the order, so this one's state of it is outdated. */
export class LeaseLost extends Error {}

export interface Writer {
  /** Names the process. */
  readonly owner: string;
  readonly now: number;
  /** Whether the process keeps the order's lease. */
  readonly keeps?: boolean;
}

/** Saves an order. Throws `LeaseLost` if the process does not hold its lease. */
export async function saveOrder(x: Executor, order: CertificateOrder, { owner, now, keeps }: Writer): Promise<void> {
  const row = await x
    .updateTable('certificate_order')
    .set({ ...toColumns(withoutFuture(order, now)), written_at: now, ...(!keeps && RELEASED) })
    .where('domain_id', '=', order.domainId)
    .where('lease_owner', '=', owner)
    .returning('domain_id')
    .executeTakeFirst();
  if (row === undefined) throw new LeaseLost();
}

/**
 * Ends the order of a domain that was deleted or was given another certificate, also while a process works on it. The
 * daily count of orders is kept. Returns the changes to publish.
 */
export async function endOrder(trx: Transaction<Schema>, domainId: number): Promise<readonly Change[]> {
  let query = trx.selectFrom('certificate_order').select('challenge_key').where('domain_id', '=', domainId);
  if (isPostgres(trx)) query = query.forUpdate();
  const order = await query.executeTakeFirst();
  if (order === undefined) return [];
  const ended = { state: 'failed', problem: REPLACED, detail: '', due_at: NEVER_AT, ...RELEASED };
  const cleared = { url: '', challenge_key: '', challenge_revision: 0, challenge_told_at: 0, private_key: '' };
  const update = trx.updateTable('certificate_order').set({ ...ended, ...cleared });
  await update.where('domain_id', '=', domainId).execute();
  return order.challenge_key === '' ? [] : [withdrawal(order.challenge_key)];
}

/** Returns the change that withdraws a challenge from the edges. */
export function withdrawal(key: string): Change {
  return { kind: CHALLENGE_KIND, key, op: 'delete' };
}

/**
 * Releases the orders that a process still holds after its database failed. They are due after `waitMs`, for any
 * process.
 */
export async function giveOrdersBack(
  x: Executor,
  { owner, now, waitMs }: { readonly owner: string; readonly now: number; readonly waitMs: number },
): Promise<void> {
  const released = { ...RELEASED, due_at: now + waitMs, written_at: now };
  await x.updateTable('certificate_order').set(released).where('lease_owner', '=', owner).execute();
}

export interface AheadOptions {
  readonly now: number;
  /** Tolerated difference between the clocks of processes that share the database. */
  readonly toleranceMs: number;
  /** Longest lease. */
  readonly leaseMs: number;
  readonly limit: number;
}

/**
 * Corrects orders that were written by a clock that was ahead of `now`. Returns how many. `correct` receives the order,
 * when it was written, and the validity of its domain's certificate.
 */
export async function bringBackOrders(
  trx: Transaction<Schema>,
  { now, toleranceMs, leaseMs, limit }: AheadOptions,
  correct: (order: CertificateOrder, writtenAt: number, served: Validity | undefined) => CertificateOrder,
): Promise<number> {
  let query = trx
    .selectFrom('certificate_order')
    .leftJoin('certificate', 'certificate.key', 'ssl_key')
    .selectAll('certificate_order')
    .select(['valid_from', 'valid_to'])
    .where('written_at', '>', now + toleranceMs)
    .orderBy('written_at')
    .limit(limit);
  if (isPostgres(trx)) query = query.forUpdate('certificate_order').skipLocked();
  const rows = await query.execute();
  for (const row of rows) {
    const { valid_from: validFrom, valid_to: validTo } = row;
    const served = validFrom === null || validTo === null ? undefined : { validFrom, validTo };
    const corrected = withoutFuture(correct(toOrder(row), row.written_at, served), now);
    await trx
      .updateTable('certificate_order')
      .set({ ...toColumns(corrected), written_at: now, lease_until: Math.min(row.lease_until, now + leaseMs) })
      .where('domain_id', '=', row.domain_id)
      .execute();
  }
  return rows.length;
}

/** Frees all claimed orders, in a database with one process: their previous holder has died. */
export async function freeOrders(x: Executor): Promise<void> {
  await x.updateTable('certificate_order').set(RELEASED).where('lease_owner', '!=', '').execute();
}

/** Counts domains whose last order was begun after `since`: in total, and of the account. */
export async function countBegun(
  x: Executor,
  { since, accountId }: { readonly since: number; readonly accountId: number },
): Promise<{ readonly all: number; readonly ofAccount: number }> {
  const row = await x
    .selectFrom('certificate_order')
    .innerJoin('domain', 'domain.id', 'domain_id')
    .select((e) => e.fn.countAll<number>().as('all'))
    .select(sql<number | null>`sum(case when account_id = ${accountId} then 1 else 0 end)`.as('of_account'))
    .where('ordered_at', '>', since)
    .executeTakeFirstOrThrow();
  // SQL's sum of no rows is null.
  return { all: Number(row.all), ofAccount: Number(row.of_account ?? 0) };
}

const REPLACED: OrderProblem = 'replaced';
const RELEASED = { lease_owner: '', lease_until: 0 };

type OrderColumns = Omit<CertificateOrderRow, 'domain_id' | 'written_at' | 'lease_owner' | 'lease_until'>;

function toColumns(order: CertificateOrder): OrderColumns {
  return {
    state: order.state,
    problem: order.problem ?? '',
    detail: order.detail,
    ssl_key: order.sslKey,
    issued_key: order.issuedKey,
    url: order.url,
    challenge_key: order.challenge?.key ?? '',
    challenge_revision: order.challenge?.revision ?? 0,
    challenge_told_at: order.challenge?.toldAt ?? 0,
    private_key: order.privateKey,
    failures: order.failures,
    day_began_at: order.dayBeganAt,
    day_orders: order.dayOrders,
    requested_at: order.requestedAt,
    ordered_at: order.orderedAt,
    due_at: order.dueAt,
    renew_at: order.renewAt,
    renew_from: order.renewalWindow?.from ?? 0,
    renew_to: order.renewalWindow?.to ?? 0,
  };
}

function toOrder(row: CertificateOrderRow): CertificateOrder {
  const { challenge_key: key, challenge_revision: revision, challenge_told_at: toldAt, ...others } = row;
  const { renew_from: from, renew_to: to, written_at: _at, lease_owner: _by, lease_until: _until, ...plain } = others;
  return {
    ...toModelNames(plain),
    // `as`, here and below: written by this file only, from the same types.
    state: row.state as OrderState,
    problem: row.problem === '' ? undefined : (row.problem as OrderProblem),
    challenge: key === '' ? undefined : { key, revision, toldAt },
    renewalWindow: to === 0 ? undefined : { from, to },
  };
}

/** Whether the service has obtained the certificate for a domain that uses it. */
export async function hasObtained(x: Executor, key: string): Promise<boolean> {
  const row = await x
    .selectFrom('certificate_use')
    .innerJoin('certificate_order', 'certificate_order.domain_id', 'certificate_use.domain_id')
    .select('certificate_order.domain_id')
    .where('certificate_key', '=', key)
    .where('issued_key', '=', key)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
