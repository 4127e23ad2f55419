/** The fleet's id, and its certificate authority, whose key is sealed. */
import type { Transaction } from 'kysely';
import { lockInTransaction, wakeListeners } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import type { Keyring } from '../../secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '../../secrets/sealing.ts';

export interface FleetRow {
  /** 8 hex digits. */
  readonly name: string;
  /** Grows with each change that every control must notice at once. */
  readonly changes: number;
}

export interface StoredAuthority {
  readonly key: string;
  /** PEM. */
  readonly certificate: string;
  readonly madeAt: number;
}

export interface OpenedAuthority extends StoredAuthority {
  /** PKCS #8 PEM. */
  readonly privateKey: string;
}

export async function readFleet(x: Executor): Promise<FleetRow> {
  return await x.selectFrom('fleet').select(['name', 'changes']).executeTakeFirstOrThrow();
}

/** Makes every control look at its connections again: at once on PostgreSQL, else at its next look. */
export async function noteFleetChange(trx: Executor): Promise<void> {
  await wakeListeners(trx);
  await trx
    .updateTable('fleet')
    .set((e) => ({ changes: e('changes', '+', 1) }))
    .execute();
}

/** Waits for other transactions that change the fleet. */
export async function lockFleet(trx: Transaction<Schema>): Promise<void> {
  await lockInTransaction(trx, 'fleet');
}

/** Lists the authorities, oldest first. */
export async function listAuthorities(x: Executor): Promise<readonly StoredAuthority[]> {
  const rows = await x.selectFrom('fleet_authority').selectAll().orderBy('made_at').orderBy('key').execute();
  return rows.map(({ key, certificate, made_at }) => ({ key, certificate, madeAt: made_at }));
}

/**
 * Reads an authority with its key; `undefined` if there is no such authority, or if an export left its key out. Throws
 * `KeyringError` if the key cannot be unsealed.
 */
export async function openAuthority(x: Executor, ring: Keyring, key: string): Promise<OpenedAuthority | undefined> {
  const row = await x.selectFrom('fleet_authority').selectAll().where('key', '=', key).executeTakeFirst();
  if (row === undefined || row.private_key === '') return undefined;
  const privateKey = unseal(ring, keyLocation(key), row.private_key).toString('utf8');
  return { key, certificate: row.certificate, madeAt: row.made_at, privateKey };
}

export async function addAuthority(trx: Executor, ring: Keyring, authority: OpenedAuthority): Promise<void> {
  const { key, certificate, privateKey, madeAt } = authority;
  const sealed = seal(ring, keyLocation(key), Buffer.from(privateKey));
  await trx.insertInto('fleet_authority').values({ key, certificate, private_key: sealed, made_at: madeAt }).execute();
}

export async function removeAuthority(trx: Executor, key: string): Promise<void> {
  await trx.deleteFrom('fleet_authority').where('key', '=', key).execute();
}

function keyLocation(key: string): SecretLocation {
  return { table: 'fleet_authority', row: key, column: 'private_key' };
}
