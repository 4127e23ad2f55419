/** Accounts that send SMS and have little left to pay with. */
import type { Executor } from '../../schema/schema.ts';

/** Lists accounts with an enabled app and a balance below `limit`. */
export async function listLowBalances(
  x: Executor,
  limit: number,
): Promise<readonly { readonly accountId: number; readonly name: string; readonly balance: number }[]> {
  const rows = await x
    .selectFrom('sms_balance')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['account_id', 'name', 'balance'])
    .where('balance', '<', limit)
    .where('account_id', 'in', (e) => e.selectFrom('sms_app').select('account_id').where('enabled', '=', 1))
    .orderBy('account_id')
    .execute();
  return rows.map(({ account_id, name, balance }) => ({ accountId: account_id, name, balance }));
}
