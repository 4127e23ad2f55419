/** SMS balances of accounts, the ledger, and prices of parts. Holds, charges and refunds: `money.ts`. */
import { sql, type Transaction } from 'kysely';
import type { SmsKind } from '#model/sms-app.ts';
import { isPostgres } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { runBatch } from '../../statements/batch.ts';
import { statement } from '../../statements/statement.ts';

export interface LedgerEntry {
  readonly id: number;
  readonly kind: string;
  readonly amount: number;
  readonly createdAt: number;
  /** Sendid of the message that the entry is for; absent for a recharge. */
  readonly sendid: string | undefined;
  readonly destination: string | undefined;
  readonly part: number | undefined;
  /** Reference of a recharge, if it has one. */
  readonly reference: string | undefined;
}

export interface SmsPrice {
  readonly kind: SmsKind;
  /** Digits with `+`; empty: numbers that no longer prefix covers. */
  readonly prefix: string;
  /** Price of a part. */
  readonly price: number;
}

export type Recharge =
  | { readonly kind: 'recharged'; readonly balance: number }
  /** The balance would be negative or exceed a safe integer. */
  | { readonly kind: 'tooMuch' }
  /** The recharge with this reference had another amount. */
  | { readonly kind: 'otherAmount'; readonly amount: number };

interface RechargeToStore {
  readonly accountId: number;
  readonly amount: number;
  readonly now: number;
  /** A recharge with the same reference is not repeated. */
  readonly reference?: string;
}

/** Adds to an account's balance; a negative amount subtracts. Changes nothing unless the result is `recharged`. */
export async function rechargeSms(
  trx: Transaction<Schema>,
  { accountId, amount, now, reference }: RechargeToStore,
): Promise<Recharge> {
  await trx
    .insertInto('sms_balance')
    .values({ account_id: accountId, balance: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const [[{ balance } = { balance: 0 }]] = await runBatch(trx, [lockSmsBalances({ accountIds: [accountId] })] as const);
  const before = reference === undefined ? undefined : await findRecharge(trx, accountId, reference);
  if (before !== undefined)
    return before === amount ? { kind: 'recharged', balance } : { kind: 'otherAmount', amount: before };
  const after = balance + amount;
  if (after < 0 || !Number.isSafeInteger(after)) return { kind: 'tooMuch' };
  await trx.updateTable('sms_balance').set({ balance: after }).where('account_id', '=', accountId).execute();
  if (amount !== 0)
    await trx
      .insertInto('sms_ledger')
      .values({ account_id: accountId, part_id: null, kind: 'recharge', amount, created_at: now, reference })
      .execute();
  return { kind: 'recharged', balance: after };
}

async function findRecharge(x: Executor, accountId: number, reference: string): Promise<number | undefined> {
  const row = await x
    .selectFrom('sms_ledger')
    .select('amount')
    .where('account_id', '=', accountId)
    .where('reference', '=', reference)
    .executeTakeFirst();
  return row?.amount;
}

export async function readSmsBalance(x: Executor, accountId: number): Promise<number> {
  const row = await x
    .selectFrom('sms_balance')
    .select('balance')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row?.balance ?? 0;
}

/** Lists entries, newest first. `before`: only entries with a lower id. */
export async function listSmsLedger(
  x: Executor,
  {
    accountId,
    before,
    limit,
  }: { readonly accountId: number; readonly before?: number | undefined; readonly limit: number },
): Promise<readonly LedgerEntry[]> {
  const rows = await x
    .selectFrom('sms_ledger as l')
    .leftJoin('sms_part as p', 'p.id', 'l.part_id')
    .leftJoin('sms_message as m', 'm.id', 'p.message_id')
    .leftJoin('sms_request as r', 'r.id', 'm.request_id')
    .select(['l.id', 'l.kind', 'l.amount', 'l.created_at', 'l.reference', 'r.sendid', 'm.destination', 'p.n'])
    .where('l.account_id', '=', accountId)
    .$if(before !== undefined, (query) => query.where('l.id', '<', before ?? 0))
    .orderBy('l.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id, kind, amount, created_at, reference, sendid, destination, n }) => ({
    id,
    kind,
    amount,
    createdAt: created_at,
    sendid: sendid ?? undefined,
    destination: destination ?? undefined,
    part: n ?? undefined,
    reference: reference ?? undefined,
  }));
}

export async function listSmsPrices(x: Executor): Promise<readonly SmsPrice[]> {
  return (await PRICES.execute(x)).rows;
}

/** The API admits only the kinds of `SmsKind`. */
const PRICES = sql<SmsPrice>`select kind as kind, prefix as prefix, price as price from sms_price order by kind desc, prefix`;

export const selectSmsPrices = statement({}, () => PRICES);

/** Saves the price of a prefix; absent: removes it. */
export async function saveSmsPrice(
  x: Executor,
  { kind, prefix, price }: Omit<SmsPrice, 'price'> & { readonly price: number | undefined },
): Promise<void> {
  if (price === undefined) {
    await x.deleteFrom('sms_price').where('kind', '=', kind).where('prefix', '=', prefix).execute();
    return;
  }
  await x
    .insertInto('sms_price')
    .values({ kind, prefix, price })
    .onConflict((conflict) => conflict.columns(['kind', 'prefix']).doUpdateSet({ price }))
    .execute();
}

/**
 * Locks balances until the transaction ends, in a fixed order to prevent deadlocks. An account without a row has a
 * balance of 0.
 */
export const lockSmsBalances = statement({ accountIds: 'ids' }, ({ accountIds }, x) => {
  return sql<AccountBalance>`
    select account_id as "accountId", balance as balance from sms_balance
    where account_id ${accountIds} order by account_id ${isPostgres(x) ? sql`for update` : sql``}`;
});

interface AccountBalance {
  readonly accountId: number;
  readonly balance: number;
}

/**
 * Takes amounts from balances; `taken`: account id and amount. Fails if a balance would become negative: the caller
 * must have locked and checked it.
 */
export const takeFromSmsBalances = statement({ taken: 'rows' }, ({ taken }) => {
  return sql`
    update sms_balance set balance = sms_balance.balance - v.amount
    from (select cast(value ->> 0 as integer) as account_id, cast(value ->> 1 as bigint) as amount from ${taken}) as v
    where sms_balance.account_id = v.account_id`;
});
