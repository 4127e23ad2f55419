/** Numbers that have opted out of advertising from an account, or from all (account 0). */
import type { Transaction } from 'kysely';
import type { Executor, Schema } from '../../schema/schema.ts';
import { queueDeliveries } from './deliveries.ts';
import { insertOptOuts } from './replies.ts';
import { rejectOptedOut } from './sweep.ts';

export interface OptOuts {
  /** 0: all accounts. */
  readonly accountId: number;
  /** E.164 with `+` */
  readonly numbers: readonly string[];
}

/** Adds opt-outs. Waiting advertising to these numbers is rejected and refunded. */
export async function addOptOuts(
  trx: Transaction<Schema>,
  { accountId, numbers }: OptOuts,
  now: number,
): Promise<void> {
  const optOuts = numbers.map((number) => ({ accountId, number }));
  await insertOptOuts(trx, optOuts, now);
  const endedParts = await rejectOptedOut(trx, optOuts, now);
  await queueDeliveries(trx, { endedParts, replies: [] }, now);
}

/** Returns how many of the numbers were removed. */
export async function removeOptOuts(x: Executor, { accountId, numbers }: OptOuts): Promise<number> {
  if (numbers.length === 0) return 0;
  const own = x.deleteFrom('sms_opt_out').where('account_id', '=', accountId);
  const { numDeletedRows } = await own.where('number', 'in', numbers).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Lists numbers in order, after `after`. */
export async function listOptOuts(
  x: Executor,
  {
    accountId,
    after,
    limit,
  }: { readonly accountId: number; readonly after: string | undefined; readonly limit: number },
): Promise<readonly { readonly number: string; readonly createdAt: number }[]> {
  return await x
    .selectFrom('sms_opt_out')
    .select(['number', 'created_at as createdAt'])
    .where('account_id', '=', accountId)
    .$if(after !== undefined, (query) => query.where('number', '>', after ?? ''))
    .orderBy('number')
    .limit(limit)
    .execute();
}
