/** Accounts. They are never deleted: logs, domains and money refer to them. */
import { sql } from 'kysely';
import type { Account, AccountKind, AccountLimits } from '#model/account.ts';
import type { AccountRow, Executor } from '../schema/schema.ts';
import { escapeLike } from './domain-filter.ts';

export interface NewAccount {
  readonly name: string;
  readonly kind: AccountKind;
  readonly now: number;
}

export async function createAccount(x: Executor, { name, kind, now }: NewAccount): Promise<Account> {
  const row = await x
    .insertInto('account')
    .values({ name, kind, created_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toAccount(row);
}

export async function findAccount(x: Executor, id: number): Promise<Account | undefined> {
  const row = await x.selectFrom('account').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toAccount(row);
}

/** Accounts by id; those that are not there are absent. */
export async function findAccounts(x: Executor, ids: readonly number[]): Promise<ReadonlyMap<number, Account>> {
  if (ids.length === 0) return new Map();
  const rows = await x.selectFrom('account').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, toAccount(row)]));
}

interface AccountFilter {
  /** Part of the name, in any case; absent: all accounts. */
  readonly nameContains?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Lists accounts in order of creation. */
export async function listAccounts(
  x: Executor,
  { nameContains, limit, offset }: AccountFilter,
): Promise<readonly Account[]> {
  const rows = await x
    .selectFrom('account')
    .selectAll()
    .where(hasName(nameContains))
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.map(toAccount);
}

export async function countAccounts(
  x: Executor,
  { nameContains }: Pick<AccountFilter, 'nameContains'> = {},
): Promise<number> {
  const { total } = await x
    .selectFrom('account')
    .where(hasName(nameContains))
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

function hasName(part = '') {
  return sql<boolean>`lower(name) like lower(${`%${escapeLike(part)}%`}) escape '!'`;
}

/**
 * Disables or enables an account. `disabledAt`: absent to enable it. If the account is already disabled, the first
 * instant is kept.
 */
export async function setAccountDisabled(x: Executor, id: number, disabledAt: number | undefined): Promise<void> {
  await x
    .updateTable('account')
    .set((e) => ({ disabled_at: disabledAt === undefined ? null : e.fn.coalesce('disabled_at', e.val(disabledAt)) }))
    .where('id', '=', id)
    .execute();
}

/** Sets the limits of an account; those that are absent are the service's. */
export async function saveAccountLimits(x: Executor, id: number, limits: AccountLimits): Promise<void> {
  await x
    .updateTable('account')
    .set({ limits: JSON.stringify(limits) })
    .where('id', '=', id)
    .execute();
}

/** Lists accounts with a limit of bandwidth, and those that were over one. */
export async function listBoundedAccounts(x: Executor): Promise<readonly Account[]> {
  const rows = await x
    .selectFrom('account')
    .selectAll()
    .where((e) => e.or([e('limits', 'like', '%bandwidthMbps%'), e('over_since', 'is not', null)]))
    .orderBy('id')
    .execute();
  return rows.map(toAccount);
}

/** `since` absent: the account is within its bandwidth. */
export async function saveOverSince(x: Executor, id: number, since: number | undefined): Promise<void> {
  await x
    .updateTable('account')
    .set({ over_since: since ?? null })
    .where('id', '=', id)
    .execute();
}

/** Sets whether members need a second factor. */
export async function setSecondFactor(x: Executor, id: number, isNeeded: boolean): Promise<void> {
  await x
    .updateTable('account')
    .set({ second_factor: isNeeded ? 1 : 0 })
    .where('id', '=', id)
    .execute();
}

/** Number of domains of an account, without deleted ones. */
export async function countDomains(x: Executor, id: number): Promise<number> {
  const row = await x.selectFrom('account').select('domains').where('id', '=', id).executeTakeFirst();
  return row?.domains ?? 0;
}

/** Lists ids of customers' accounts, at most `limit`. */
export async function listCustomerIds(x: Executor, limit: number): Promise<readonly number[]> {
  const rows = await x
    .selectFrom('account')
    .select('id')
    .where('kind', '=', 'customer')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Counts one more domain for the account. Returns false, without counting, if it has `max` already. Exact under
 * concurrency.
 */
export async function takeDomainPlace(trx: Executor, accountId: number, max: number): Promise<boolean> {
  const row = await trx
    .updateTable('account')
    .set((e) => ({ domains: e('domains', '+', 1) }))
    .where('id', '=', accountId)
    .where('domains', '<', max)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Counts one domain less for the account. */
export async function giveDomainPlace(trx: Executor, accountId: number): Promise<void> {
  await trx
    .updateTable('account')
    .set((e) => ({ domains: e('domains', '-', 1) }))
    .where('id', '=', accountId)
    .execute();
}

export function toAccount(row: Omit<AccountRow, 'domains'>): Account {
  // `as`: the table's check allows these two words only.
  const kind = row.kind as AccountKind;
  const { id, name, created_at: createdAt, disabled_at, over_since } = row;
  // `as`: only `saveAccountLimits` writes them.
  const limits = JSON.parse(row.limits) as AccountLimits;
  const over = over_since !== null && { overSince: over_since };
  const second = row.second_factor !== null && { secondFactor: row.second_factor === 1 };
  return { id, name, kind, createdAt, isDisabled: disabled_at !== null, limits, ...over, ...second };
}
