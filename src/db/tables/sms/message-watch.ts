/**
 * Accounts whose messages somebody watches. A transaction that changes messages of one raises its version; messages of
 * others cost nothing more. docs/decisions/0690
 */
import { sql, type Transaction } from 'kysely';
import { isPostgres } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { writeBatch } from '../../statements/batch.ts';
import { statement } from '../../statements/statement.ts';

interface ChangedMessages {
  readonly partIds?: readonly number[];
  readonly accountIds?: readonly number[];
}

/** Call it last in a transaction: it may wait for another one that changes messages of the same account. */
export async function noteMessages(
  trx: Transaction<Schema>,
  { partIds = [], accountIds = [] }: ChangedMessages,
): Promise<void> {
  if (partIds.length + accountIds.length > 0) await writeBatch(trx, [raise({ partIds, accountIds })]);
}

/** Begins with the watched accounts, so that the parts are not looked at while there is none. */
const raise = statement({ partIds: 'ids', accountIds: 'ids' }, ({ partIds, accountIds }, x) => {
  const inOrder = isPostgres(x) ? sql`order by account_id for update` : sql``;
  return sql`
    update sms_watch set version = version + 1 where account_id in (
      select account_id from sms_watch
      where account_id ${accountIds} or account_id + 0 in (select account_id from sms_part where id ${partIds})
      ${inOrder})`;
});

/** Has changes of these accounts' messages counted until then. */
export async function watchMessages(x: Executor, accountIds: readonly number[], until: number): Promise<void> {
  if (accountIds.length === 0) return;
  const rows = accountIds.toSorted((a, b) => a - b).map((account_id) => ({ account_id, version: 0, until }));
  await x
    .insertInto('sms_watch')
    .values(rows)
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ until }))
    .execute();
}

/** Versions by account; accounts that are not watched are left out. */
export async function readMessageVersions(
  x: Executor,
  accountIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (accountIds.length === 0) return new Map();
  const rows = await x
    .selectFrom('sms_watch')
    .select(['account_id', 'version'])
    .where('account_id', 'in', accountIds)
    .execute();
  return new Map(rows.map(({ account_id, version }) => [account_id, version]));
}

/** Deletes what nobody has watched since then. */
export async function forgetMessageWatches(x: Executor, before: number): Promise<void> {
  await x.deleteFrom('sms_watch').where('until', '<', before).execute();
}
