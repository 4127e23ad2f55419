/** Traffic sums of all domains of an account together, so that no call adds up thousands of domains. */
import { sql } from 'kysely';
import type { Executor } from '../schema/schema.ts';
import { inIds } from '../statements/lists.ts';
import { type AccountSumRow, type Grain, insertAccountSums, SUM_NAMES, type SumRow, type Sums } from './statistics.ts';

/** Adds to the sums of the accounts that the domains belong to now. Must run in the transaction that adds `rows`. */
export async function addAccountSums(x: Executor, rows: readonly SumRow[]): Promise<void> {
  const owners = await findOwners(x, [...new Set(rows.map(({ domain_id }) => domain_id))]);
  const sums = new Map<string, AccountSumRow>();
  for (const { domain_id, ...row } of rows) {
    const accountId = owners.get(domain_id);
    if (accountId === undefined) continue;
    const key = `${accountId} ${row.grain} ${row.at}`;
    const known = sums.get(key);
    sums.set(key, known === undefined ? { account_id: accountId, ...row } : { ...known, ...added(known, row) });
  }
  await insertAccountSums(x, [...sums.values()]);
}

export interface AccountSpan {
  readonly accountId: number;
  readonly grain: Grain;
  /** Epoch milliseconds: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Earliest first. Instants without traffic are absent. */
export async function listAccountSums(
  x: Executor,
  { accountId, grain, from, to }: AccountSpan,
): Promise<readonly (Sums & { readonly at: number })[]> {
  const rows = await x
    .selectFrom('stat_account')
    .select(['at', ...SUM_NAMES])
    .where('account_id', '=', accountId)
    .where('grain', '=', grain)
    .where('at', '>=', from)
    .where('at', '<', to)
    .orderBy('at')
    .execute();
  return rows;
}

function added(to: Sums, more: Sums): Sums {
  const sums = SUM_NAMES.map((name) => [name, to[name] + more[name]]);
  return Object.fromEntries(sums) as unknown as Sums; // one number for each name
}

async function findOwners(x: Executor, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const rows = await x
    .selectFrom('domain')
    .select(['id', 'account_id'])
    .where(sql<boolean>`id ${inIds(x, ids)}`)
    .execute();
  return new Map(rows.map(({ id, account_id }) => [id, account_id]));
}
