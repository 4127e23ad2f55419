/** Numbers that have opted out of advertising from an account, or from all (account 0). */
import type { Transaction } from 'kysely';
import type { Executor, Schema } from '../../schema/schema.ts';
import { queueDeliveries } from './deliveries.ts';
import { noteMessages } from './message-watch.ts';
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
  await noteMessages(trx, { partIds: endedParts });
}

/** Returns how many of the numbers were removed. */
export async function removeOptOuts(x: Executor, { accountId, numbers }: OptOuts): Promise<number> {
  if (numbers.length === 0) return 0;
  const own = x.deleteFrom('sms_opt_out').where('account_id', '=', accountId);
  const { numDeletedRows } = await own.where('number', 'in', numbers).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Finds those of the numbers that have opted out of the account's advertising, or of everybody's. */
export async function findOptedOut(
  x: Executor,
  accountId: number,
  numbers: readonly string[],
): Promise<ReadonlySet<string>> {
  if (numbers.length === 0) return new Set();
  const rows = await x
    .selectFrom('sms_opt_out')
    .select('number')
    .where('number', 'in', numbers)
    .where('account_id', 'in', [0, accountId])
    .execute();
  return new Set(rows.map(({ number }) => number));
}

/** Sorts after every number of a prefix, in the order of any language: numbers have at most 15 digits. */
const LAST_DIGITS = '9'.repeat(16);

export interface OptOutPage {
  /** Beginning of the numbers; empty: all. */
  readonly prefix: string;
  /** Only numbers after this one. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Lists numbers in order. */
export async function listOptOuts(
  x: Executor,
  { accountId, prefix, after, limit }: OptOutPage & { readonly accountId: number },
): Promise<readonly { readonly number: string; readonly createdAt: number }[]> {
  return await x
    .selectFrom('sms_opt_out')
    .select(['number', 'created_at as createdAt'])
    .where('account_id', '=', accountId)
    .$if(after !== undefined, (query) => query.where('number', '>', after ?? ''))
    .$if(prefix !== '', (query) => query.where('number', '>=', prefix).where('number', '<=', prefix + LAST_DIGITS))
    .orderBy('number')
    .limit(limit)
    .execute();
}
