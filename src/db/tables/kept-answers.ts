/** Answers of calls with an Idempotency-Key, kept for a day. They may show secrets, so they are sealed. */
import type { Transaction } from 'kysely';
import { DAY_MS } from '#lib/durations.ts';
import { lockInTransaction } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '../secrets/sealing.ts';

export interface NewKeptAnswer {
  /** Hash of account, operation and key. */
  readonly id: string;
  readonly accountId: number;
  /** Hash of the token and of what was asked. */
  readonly requestHash: string;
  /** JSON. */
  readonly answer: string;
  readonly now: number;
}

/** Locks the answer until the transaction ends, whether it is there or not. */
export async function lockKeptAnswer(trx: Transaction<Schema>, id: string): Promise<void> {
  await lockInTransaction(trx, `answer:${id}`);
}

export async function findKeptAnswer(
  trx: Transaction<Schema>,
  ring: Keyring,
  { id, since }: { readonly id: string; readonly since: number },
): Promise<Pick<NewKeptAnswer, 'requestHash' | 'answer'> | undefined> {
  const row = await trx
    .selectFrom('kept_answer')
    .select(['request_hash', 'answer'])
    .where('id', '=', id)
    .where('made_at', '>', since)
    .executeTakeFirst();
  return row && { requestHash: row.request_hash, answer: String(unseal(ring, locationOf(id), row.answer)) };
}

export async function countKeptAnswers(
  x: Executor,
  { accountId, since }: { readonly accountId: number; readonly since: number },
): Promise<number> {
  const { count } = await x
    .selectFrom('kept_answer')
    .where('account_id', '=', accountId)
    .where('made_at', '>', since)
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Replaces one that is too old to be found. */
export async function saveKeptAnswer(
  trx: Transaction<Schema>,
  ring: Keyring,
  { id, accountId, requestHash, answer, now }: NewKeptAnswer,
): Promise<void> {
  await trx.deleteFrom('kept_answer').where('id', '=', id).execute();
  const sealed = seal(ring, locationOf(id), Buffer.from(answer));
  await trx
    .insertInto('kept_answer')
    .values({ id, account_id: accountId, request_hash: requestHash, answer: sealed, made_at: now })
    .execute();
}

export async function pruneKeptAnswers(x: Executor, now: number): Promise<void> {
  await x
    .deleteFrom('kept_answer')
    .where('made_at', '<=', now - DAY_MS)
    .execute();
}

function locationOf(id: string): SecretLocation {
  return { table: 'kept_answer', row: id, column: 'answer' };
}
