/** A passkey that a browser has made: checked before the transaction that keeps it. docs/decisions/0664 */
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Schema } from '#db/schema/schema.ts';
import { addPasskey, takeChallenge } from '#db/tables/people/passkeys.ts';
import { type CheckedPasskey, checkNewPasskey, type PasskeyOwner } from '../auth/passkeys.ts';
import type { Call } from './handler.ts';
import { passkeyContext } from './sign-in.ts';

/** `answer`: the result of `navigator.credentials.create()`. Throws `ServiceError` if it is no passkey for this owner. */
export async function checkedPasskey(call: Call, answer: object, owner: PasskeyOwner): Promise<CheckedPasskey> {
  // `as`: the library checks what an answer has.
  const checked = await checkNewPasskey(passkeyContext(call), answer as RegistrationResponseJSON, owner);
  if (checked === undefined) throw new ServiceError('passkeyRefused');
  return checked;
}

interface Kept {
  readonly personId: number;
  readonly label: string;
  readonly createdAt: number;
}

/** Throws `ServiceError` if its challenge was answered before. */
export async function keepPasskey(
  trx: Transaction<Schema>,
  { challenge, ...made }: CheckedPasskey,
  kept: Kept,
): Promise<number> {
  if (!(await takeChallenge(trx, challenge.hash, challenge.expiresAt))) throw new ServiceError('passkeyRefused');
  return await addPasskey(trx, { ...made, ...kept });
}
