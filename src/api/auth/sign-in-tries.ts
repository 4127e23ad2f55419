/** Tries to sign in, counted before they are looked at, so that several at once are no more than one after the other. docs/decisions/0664 */
import { hash } from 'node:crypto';
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Schema } from '#db/schema/schema.ts';
import { addTry, findTries, lockTries } from '#db/tables/people/tries.ts';
import { clientNetwork } from '#lib/cidr.ts';
import { heldUntil } from '#model/sign-in-tries.ts';
import type { Caller } from './authenticate.ts';

/** `what`: the address that was typed, or the person. A hash, since anything may be typed. */
export function triesKey(kind: 'password' | 'second', what: string | number, { address }: Caller): string {
  return hash('sha256', JSON.stringify([kind, what, clientNetwork(address)]));
}

/** Throws `ServiceError` while no try is taken. */
export async function takeTry(trx: Transaction<Schema>, key: string, now: number): Promise<void> {
  await lockTries(trx, key);
  const until = heldUntil(await findTries(trx, key), now);
  if (now < until) throw new ServiceError('tooManySignIns', { seconds: Math.ceil((until - now) / 1000) });
  await addTry(trx, key, now);
}
