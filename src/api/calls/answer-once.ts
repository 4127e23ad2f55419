/**
 * A call with an Idempotency-Key: what it does and its answer are stored in one transaction, and a repetition gets that answer.
 * docs/decisions/0631
 */
import { hash } from 'node:crypto';
import { ServiceError } from '#contract/errors/service-error.ts';
import { type Db, joinTransaction } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { countKeptAnswers, findKeptAnswer, lockKeptAnswer, saveKeptAnswer } from '#db/tables/kept-answers.ts';
import { DAY_MS } from '#lib/durations.ts';
import type { CallAnswer } from '../call-answer.ts';

/** Keys of an account within 24 hours. */
const MAX_KEYS = 10_000;
const MAX_KEY_CHARS = 255;

export interface KeyedCall {
  /** The field as it was sent. */
  readonly key: string;
  readonly operation: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly accountId: number;
  /** The token, or the person. */
  readonly requester: number | string;
  readonly now: number;
}

/** `act` uses the database that it is given. What it refuses is not kept: the call can be repeated. */
export async function answerOnce(
  { db, keyring }: { readonly db: Db; readonly keyring: Keyring },
  call: KeyedCall,
  act: (db: Db) => Promise<CallAnswer>,
): Promise<CallAnswer> {
  const { accountId, requester, now } = call;
  const id = hashOf(accountId, call.operation, readKey(call.key));
  const { access_token: _token, ...asked } = call.members;
  const requestHash = hashOf(
    requester,
    Object.entries(asked).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
  return await db.transaction(async (trx) => {
    await lockKeptAnswer(trx, id); // a concurrent repetition waits here
    const kept = await findKeptAnswer(trx, keyring, { id, since: now - DAY_MS });
    if (kept !== undefined) {
      if (kept.requestHash !== requestHash) throw new ServiceError('idempotencyKeyReused');
      return { ...JSON.parse(kept.answer), headers: { 'idempotency-replayed': '?1' } };
    }
    if ((await countKeptAnswers(trx, { accountId, since: now - DAY_MS })) >= MAX_KEYS)
      throw new ServiceError('idempotencyKeyLimit', { limit: MAX_KEYS });
    const answer = await act(joinTransaction(db, trx));
    await saveKeptAnswer(trx, keyring, { id, accountId, requestHash, answer: JSON.stringify(answer), now });
    return answer;
  });
}

/** A key may be quoted, as a String of structured fields is. */
function readKey(text: string): string {
  const key = /^"([^"]*)"$/.exec(text)?.[1] ?? text;
  if (key.length > MAX_KEY_CHARS || !/^[!#-~]+$/.test(key)) throw new ServiceError('idempotencyKeyInvalid');
  return key;
}

function hashOf(...parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts));
}
