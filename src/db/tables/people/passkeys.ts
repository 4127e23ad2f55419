/** Passkeys, and the challenges that were answered with them. docs/decisions/0664 */
import type { Transaction } from 'kysely';
import type { Executor, PasskeyRow, Schema } from '../../schema/schema.ts';

export interface Passkey {
  readonly id: number;
  readonly personId: number;
  /** Id of the credential, base64url. */
  readonly credential: string;
  /** COSE key, base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly label: string;
  readonly createdAt: number;
  readonly usedAt?: number;
}

/** Throws if the credential is there already. */
export async function addPasskey(trx: Transaction<Schema>, passkey: Omit<Passkey, 'id' | 'usedAt'>): Promise<number> {
  const { id } = await trx
    .insertInto('passkey')
    .values({
      person_id: passkey.personId,
      credential: passkey.credential,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: JSON.stringify(passkey.transports),
      label: passkey.label,
      created_at: passkey.createdAt,
      used_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function findPasskey(x: Executor, credential: string): Promise<Passkey | undefined> {
  const row = await x.selectFrom('passkey').selectAll().where('credential', '=', credential).executeTakeFirst();
  return row && toPasskey(row);
}

/** Lists the passkeys of a person, the oldest first. */
export async function listPasskeys(x: Executor, personId: number): Promise<readonly Passkey[]> {
  const rows = await x.selectFrom('passkey').selectAll().where('person_id', '=', personId).orderBy('id').execute();
  return rows.map(toPasskey);
}

export async function saveUse(
  x: Executor,
  id: number,
  { counter, now }: { readonly counter: number; readonly now: number },
): Promise<void> {
  await x.updateTable('passkey').set({ counter, used_at: now }).where('id', '=', id).execute();
}

/** Returns false if the person has no such passkey. */
export async function removePasskey(x: Executor, personId: number, id: number): Promise<boolean> {
  const row = await x
    .deleteFrom('passkey')
    .where('person_id', '=', personId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function removePasskeys(x: Executor, personId: number): Promise<void> {
  await x.deleteFrom('passkey').where('person_id', '=', personId).execute();
}

/** Counts a challenge as answered; returns false if it was before. */
export async function takeChallenge(x: Executor, hash: string, expiresAt: number): Promise<boolean> {
  const row = await x
    .insertInto('used_challenge')
    .values({ hash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .returning('hash')
    .executeTakeFirst();
  return row !== undefined;
}

export async function pruneChallenges(x: Executor, now: number): Promise<void> {
  await x.deleteFrom('used_challenge').where('expires_at', '<=', now).execute();
}

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    personId: row.person_id,
    credential: row.credential,
    publicKey: row.public_key,
    counter: row.counter,
    transports: JSON.parse(row.transports) as readonly string[], // `as`: written by `addPasskey` only
    label: row.label,
    createdAt: row.created_at,
    ...(row.used_at !== null && { usedAt: row.used_at }),
  };
}
