/**
 * Lists of addresses, and the domains that use them. A list is a feed resource while a domain uses it.
 * docs/decisions/0636
 */
import type { Transaction } from 'kysely';
import { ADDRESS_LIST_KIND, type AddressList, type AddressListName, addressListKey } from '#model/address-list.ts';
import { lockInTransaction } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import type { Change } from './resources.ts';

/** Names of domains in an answer. */
const MAX_SHOWN_DOMAINS = 20;

export interface AddressListView extends AddressList {
  /** Names of the domains that use it. */
  readonly domains: readonly string[];
}

/** What became of a deletion; `change`: what is to be published. */
export type DeletedList =
  | { readonly kind: 'deleted' | 'missing' }
  /** Used by these domains, of which at most 20 are listed. */
  | { readonly kind: 'inUse'; readonly domains: readonly string[] };

/** Lists the account's lists by name. */
export async function listAddressLists(x: Executor, accountId: number): Promise<readonly AddressListView[]> {
  const rows = await x
    .selectFrom('address_list')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('name')
    .execute();
  const uses = await x
    .selectFrom('address_list_use as u')
    .innerJoin('domain', 'domain.id', 'domain_id')
    .select(['u.name as list', 'domain.name as domain'])
    .where('u.account_id', '=', accountId)
    .orderBy('domain.name')
    .execute();
  const users = Map.groupBy(uses, ({ list }) => list);
  return rows.map((row) => ({
    accountId,
    name: row.name,
    entries: readEntries(row.entries),
    changedAt: row.changed_at,
    domains: (users.get(row.name) ?? []).map(({ domain }) => domain),
  }));
}

/**
 * Adds a list, or replaces its entries. Returns what is to be published; `undefined`, with nothing changed, if the
 * account has `max` others.
 */
export async function saveAddressList(
  trx: Transaction<Schema>,
  list: AddressList,
  max: number,
): Promise<readonly Change[] | undefined> {
  const { accountId, name, entries, changedAt } = list;
  await lockLists(trx, accountId);
  const names = await listNames(trx, accountId);
  if (!names.includes(name) && names.length >= max) return undefined;
  const values = { entries: JSON.stringify(entries), changed_at: changedAt };
  await trx
    .insertInto('address_list')
    .values({ account_id: accountId, name, ...values })
    .onConflict((conflict) => conflict.columns(['account_id', 'name']).doUpdateSet(values))
    .execute();
  return (await listUsers(trx, list)).length === 0 ? [] : [toPut(list, entries)];
}

export async function deleteAddressList(trx: Transaction<Schema>, list: AddressListName): Promise<DeletedList> {
  await lockLists(trx, list.accountId);
  const domains = await listUsers(trx, list);
  if (domains.length > 0) return { kind: 'inUse', domains: domains.slice(0, MAX_SHOWN_DOMAINS) };
  const { numDeletedRows } = await trx
    .deleteFrom('address_list')
    .where('account_id', '=', list.accountId)
    .where('name', '=', list.name)
    .executeTakeFirst();
  return { kind: numDeletedRows > 0n ? 'deleted' : 'missing' };
}

export interface ListUser {
  readonly id: number;
  readonly accountId: number;
}

/**
 * Sets the lists that a domain uses. Returns what is to be published, or the name of a list that the account does not
 * have. The caller has locked the domain.
 */
export async function setAddressListUse(
  trx: Transaction<Schema>,
  { id: domainId, accountId }: ListUser,
  names: readonly string[],
): Promise<{ readonly changes: readonly Change[] } | { readonly missing: string }> {
  const ofDomain = trx.selectFrom('address_list_use').select('name').where('domain_id', '=', domainId);
  const before = (await ofDomain.execute()).map(({ name }) => name);
  const added = names.filter((name) => !before.includes(name));
  const dropped = before.filter((name) => !names.includes(name));
  if (added.length + dropped.length === 0) return { changes: [] };
  await lockLists(trx, accountId);
  const changes: Change[] = [];
  for (const name of added) {
    const list = { accountId, name };
    const entries = await findEntries(trx, list);
    if (entries === undefined) return { missing: name };
    changes.push(toPut(list, entries));
    await trx.insertInto('address_list_use').values({ domain_id: domainId, account_id: accountId, name }).execute();
  }
  for (const name of dropped) {
    await trx.deleteFrom('address_list_use').where('domain_id', '=', domainId).where('name', '=', name).execute();
    const list = { accountId, name };
    const entries = (await listUsers(trx, list)).length === 0 ? undefined : await findEntries(trx, list);
    // Groups of edges that served this domain alone no longer need a list that others use.
    changes.push(
      entries === undefined
        ? { kind: ADDRESS_LIST_KIND, key: addressListKey(list), op: 'delete' }
        : toPut(list, entries),
    );
  }
  return { changes };
}

/** Ids of the domains that use each of these lists, by its key. */
export async function findListDomains(
  x: Executor,
  lists: readonly AddressListName[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>();
  for (const { accountId, name } of lists) {
    const rows = await x
      .selectFrom('address_list_use')
      .select('domain_id')
      .where('account_id', '=', accountId)
      .where('name', '=', name)
      .execute();
    found.set(
      addressListKey({ accountId, name }),
      rows.map((row) => row.domain_id),
    );
  }
  return found;
}

/** Returns the changes that publish the lists of a domain again. */
export async function listUsedLists(x: Executor, domainId: number): Promise<readonly Change[]> {
  const rows = await x
    .selectFrom('address_list_use as u')
    .innerJoin('address_list as l', (join) =>
      join.onRef('l.account_id', '=', 'u.account_id').onRef('l.name', '=', 'u.name'),
    )
    .select(['l.account_id', 'l.name', 'l.entries'])
    .where('u.domain_id', '=', domainId)
    .execute();
  return rows.map(({ account_id, name, entries }) => toPut({ accountId: account_id, name }, readEntries(entries)));
}

function toPut(list: AddressListName, entries: readonly string[]): Change {
  return { kind: ADDRESS_LIST_KIND, key: addressListKey(list), op: 'put', body: { entries } };
}

/** Holds off other changes of the account's lists and of their use until the transaction ends. */
async function lockLists(trx: Transaction<Schema>, accountId: number): Promise<void> {
  await lockInTransaction(trx, `address lists:${accountId}`);
}

async function listNames(x: Executor, accountId: number): Promise<readonly string[]> {
  const rows = await x.selectFrom('address_list').select('name').where('account_id', '=', accountId).execute();
  return rows.map(({ name }) => name);
}

async function findEntries(x: Executor, { accountId, name }: AddressListName): Promise<readonly string[] | undefined> {
  const row = await x
    .selectFrom('address_list')
    .select('entries')
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && readEntries(row.entries);
}

async function listUsers(x: Executor, { accountId, name }: AddressListName): Promise<readonly string[]> {
  const rows = await x
    .selectFrom('address_list_use as u')
    .innerJoin('domain', 'domain.id', 'domain_id')
    .select('domain.name')
    .where('u.account_id', '=', accountId)
    .where('u.name', '=', name)
    .orderBy('domain.name')
    .execute();
  return rows.map((row) => row.name);
}

function readEntries(text: string): readonly string[] {
  return JSON.parse(text) as readonly string[]; // written by `saveAddressList` only
}
