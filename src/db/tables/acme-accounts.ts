/**
 * The service's accounts at certificate authorities: one sealed key per authority, created once by whichever control
 * process needs it first.
 */
import type { Transaction } from 'kysely';
import { lockInTransaction } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '../secrets/sealing.ts';

export interface AcmeAccount {
  /** PKCS #8 PEM. */
  readonly key: string;
  /** Empty until the authority has created the account. */
  readonly url: string;
}

function keyLocation(directory: string): SecretLocation {
  return { table: 'acme_account', row: directory, column: 'private_key' };
}

/**
 * Returns the account at an authority, creating its key if there is none. Throws `KeyringError` if the key cannot be
 * unsealed.
 */
export async function loadOrMakeAcmeAccount(
  trx: Transaction<Schema>,
  ring: Keyring,
  { directory, makeKey, now }: { readonly directory: string; readonly makeKey: () => string; readonly now: number },
): Promise<AcmeAccount> {
  await lockInTransaction(trx, `acme:${directory}`);
  const row = await trx.selectFrom('acme_account').selectAll().where('directory', '=', directory).executeTakeFirst();
  if (row !== undefined && row.private_key !== '') {
    return { key: unseal(ring, keyLocation(directory), row.private_key).toString('utf8'), url: row.url };
  }
  const key = makeKey();
  const values = { private_key: seal(ring, keyLocation(directory), Buffer.from(key)), url: '', created_at: now };
  await trx
    .insertInto('acme_account')
    .values({ directory, ...values })
    .onConflict((conflict) => conflict.column('directory').doUpdateSet(values))
    .execute();
  return { key, url: '' };
}

/** Saves the account's URL; empty if the authority does not know the account any more. */
export async function saveAcmeAccountUrl(x: Executor, directory: string, url: string): Promise<void> {
  await x.updateTable('acme_account').set({ url }).where('directory', '=', directory).execute();
}
