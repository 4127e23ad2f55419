/** Wrong tries to sign in, by what was tried and from which network. docs/decisions/0664 */
import type { Transaction } from 'kysely';
import { type SignInTries, TRIES_KEPT_MS } from '#model/sign-in-tries.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';

export async function findTries(x: Executor, key: string): Promise<SignInTries | undefined> {
  const row = await x.selectFrom('sign_in_try').selectAll().where('key', '=', key).executeTakeFirst();
  return row && { failures: row.failures, lastAt: row.last_at };
}

/** Locks the tries of a key until the transaction ends: of several at once each is counted before it is looked at. */
export async function lockTries(trx: Transaction<Schema>, key: string): Promise<void> {
  await lockInTransaction(trx, `tries:${key}`);
}

/** Counts a try as a wrong one. Those that are forgotten by now count no more. */
export async function addTry(trx: Transaction<Schema>, key: string, now: number): Promise<void> {
  await trx
    .deleteFrom('sign_in_try')
    .where('key', '=', key)
    .where('last_at', '<=', now - TRIES_KEPT_MS)
    .execute();
  await trx
    .insertInto('sign_in_try')
    .values({ key, failures: 1, last_at: now })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((e) => ({ failures: e('sign_in_try.failures', '+', 1), last_at: now })),
    )
    .execute();
}

/** The right one came: returns how many tries there were, with this one. */
export async function forgetTries(trx: Transaction<Schema>, key: string): Promise<number> {
  const row = await trx.deleteFrom('sign_in_try').where('key', '=', key).returning('failures').executeTakeFirst();
  return row?.failures ?? 0;
}

export async function pruneTries(x: Executor, now: number): Promise<void> {
  await x
    .deleteFrom('sign_in_try')
    .where('last_at', '<=', now - TRIES_KEPT_MS)
    .execute();
}
