/** Every secret that lies sealed in the database: which keys of the ring they need, and sealing them with a new one. */
import { sql } from 'kysely';
import { lockInTransaction } from '../engines/engine.ts';
import type { Db } from '../open.ts';
import type { Executor } from '../schema/schema.ts';
import {
  type KeyEncryptionKey,
  type Keyring,
  KeyringError,
  loadKeyring,
  loadOrMakeKeyring,
} from '../secrets/keyring.ts';
import { SEALED_PREFIX_CHARS, type SecretLocation, sealAnew, sealedWith } from '../secrets/sealing.ts';
import { webhookSecretLocation } from '../tables/sms/deliveries.ts';
import { SEALED_RESOURCES } from './sealed-resources.ts';

/**
 * All columns of sealed secrets; a new one must be added. Secrets within JSON are read and written below, and in
 * `export/secrets.ts`.
 */
export const SEALED_COLUMNS = [
  { table: 'certificate', row: 'key', column: 'private_key' },
  { table: 'acme_account', row: 'directory', column: 'private_key' },
  { table: 'certificate_order', row: 'domain_id', column: 'private_key' },
  { table: 'sms_connector', row: 'id', column: 'secret' },
  { table: 'live_keys', row: 'domain_id', column: 'sealed_keys' },
] as const;

/** Makes the ring only where nothing was sealed before. Throws `KeyringError` when it lacks a key that is in use. */
export async function openKeyring(x: Executor, file: string): Promise<Keyring> {
  const inUse = await findKeysInUse(x);
  const ring = inUse.length === 0 ? loadOrMakeKeyring(file) : loadKeyring(file);
  const lacking = inUse.filter((id) => ring.find(id) === undefined);
  if (lacking.length === 0) return ring;
  throw new KeyringError(
    `the key ring ${file} lacks keys that stored secrets are sealed with (${lacking.join(', ')}): restore it from a copy`,
  );
}

async function findKeysInUse(x: Executor): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const { table, column } of SEALED_COLUMNS) {
    // A secret that an export left out is empty.
    const { rows } = await sql<{ prefix: string }>`
      select distinct substr(${sql.ref(column)}, 1, ${sql.lit(SEALED_PREFIX_CHARS)}) as prefix
        from ${sql.table(table)} where ${sql.ref(column)} <> ''
    `.execute(x);
    for (const { prefix } of rows) found.add(sealedWith(prefix));
  }
  for (const { sealed } of await readWebhookSecrets(x)) found.add(sealedWith(sealed));
  return [...found];
}

export interface Rotation {
  readonly keyId: string;
  /** Sealed with the new key. */
  readonly secrets: number;
  /** Damaged before: left as they were. */
  readonly unopened: number;
}

/**
 * Adds a key to the ring and seals every data key with it. No secret changes, so no edge is notified. All in one
 * transaction: a process whose ring lacks the new key reads it from the file when it meets the first secret.
 */
export function rotateKeyring(db: Db, ring: Keyring): Promise<Rotation> {
  let key: KeyEncryptionKey | undefined;
  return db.transaction(async (trx) => {
    await lockInTransaction(trx, 'keyring');
    key ??= ring.add(); // a second try goes on with the key of the first
    const counts = { secrets: 0, unopened: 0 };
    const anew = (place: SecretLocation, sealed: string) => sealUnlessDamaged(ring, place, sealed, counts);
    for (const column of SEALED_COLUMNS) await sealColumn(trx, column, anew);
    await sealWebhooks(trx, anew);
    await sealResources(trx, (place, sealed) => sealUnlessDamaged(ring, place, sealed, { secrets: 0, unopened: 0 }));
    return { keyId: key.id, ...counts };
  });
}

type SealAnew = (place: SecretLocation, sealed: string) => string;

function sealUnlessDamaged(
  ring: Keyring,
  place: SecretLocation,
  sealed: string,
  counts: { secrets: number; unopened: number },
): string {
  try {
    const anew = sealAnew(ring, place, sealed);
    counts.secrets += 1;
    return anew;
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    counts.unopened += 1;
    return sealed;
  }
}

/** Here and below: what was changed since it was read has been sealed since. */
async function sealColumn(
  trx: Executor,
  { table, row, column }: (typeof SEALED_COLUMNS)[number],
  anew: SealAnew,
): Promise<void> {
  const { rows } = await sql<{ row: string | number; sealed: string }>`
    select ${sql.ref(row)} as row, ${sql.ref(column)} as sealed from ${sql.table(table)} where ${sql.ref(column)} <> ''
  `.execute(trx);
  for (const { row: key, sealed } of rows) {
    await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${anew({ table, row: key, column }, sealed)}
        where ${sql.ref(row)} = ${key} and ${sql.ref(column)} = ${sealed}
    `.execute(trx);
  }
}

async function sealWebhooks(trx: Executor, anew: SealAnew): Promise<void> {
  for (const { id, settings, sealed } of await readWebhookSecrets(trx)) {
    const webhookSecret = anew(webhookSecretLocation(id), sealed);
    await trx
      .updateTable('sms_app')
      .set({ settings: JSON.stringify({ ...JSON.parse(settings), webhookSecret }) })
      .where('id', '=', id)
      .where('settings', '=', settings)
      .execute();
  }
}

/** Certificates and live keys as they lie in the feed. Their revisions stay. */
async function sealResources(trx: Executor, anew: SealAnew): Promise<void> {
  for (const { kind, member, locationOf } of SEALED_RESOURCES) {
    const rows = await trx
      .selectFrom('resource')
      .select(['key', 'body'])
      .where('kind', '=', kind)
      .where('deleted', '=', 0)
      .execute();
    for (const { key, body } of rows) {
      // `as`: written by this room only, with the secret in that member.
      const before = JSON.parse(body) as Readonly<Record<string, string>>;
      const changed = { ...before, [member]: anew(locationOf(key), before[member] ?? '') };
      await trx
        .updateTable('resource')
        .set({ body: JSON.stringify(changed) })
        .where('kind', '=', kind)
        .where('key', '=', key)
        .where('body', '=', body)
        .execute();
    }
  }
}

async function readWebhookSecrets(
  x: Executor,
): Promise<readonly { readonly id: number; readonly settings: string; readonly sealed: string }[]> {
  const apps = await x
    .selectFrom('sms_app')
    .select(['id', 'settings'])
    .where('settings', 'like', '%"webhookSecret"%')
    .execute();
  return apps.flatMap(({ id, settings }) => {
    // `as`: written by `tables/sms/deliveries.ts` only.
    const { webhookSecret: sealed } = JSON.parse(settings) as { readonly webhookSecret?: string };
    return sealed === undefined ? [] : [{ id, settings, sealed }];
  });
}
