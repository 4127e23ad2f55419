/** All sealed secrets in the database: finds the keys that they need, and reseals them with a new key. */
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
import { SEALED_PREFIX_CHARS, type SecretLocation, sealAnew, sealedWith, unseal } from '../secrets/sealing.ts';
import { webhookSecretLocation } from '../tables/sms/deliveries.ts';
import { SEALED_RESOURCES, type SealedResource } from './sealed-resources.ts';

/**
 * All columns with sealed secrets; new ones must be added. Secrets within JSON are handled below and in
 * `export/secrets.ts`.
 */
export const SEALED_COLUMNS = [
  { table: 'certificate', row: 'key', column: 'private_key' },
  { table: 'acme_account', row: 'directory', column: 'private_key' },
  { table: 'certificate_order', row: 'domain_id', column: 'private_key' },
  { table: 'sms_connector', row: 'id', column: 'secret' },
  { table: 'live_keys', row: 'domain_id', column: 'sealed_keys' },
  { table: 'view_key', row: 'id', column: 'secret' },
  { table: 'kept_answer', row: 'id', column: 'answer' },
  { table: 'person', row: 'id', column: 'secrets' },
  { table: 'event_webhook', row: 'receiver', column: 'secret' },
  { table: 'fleet_authority', row: 'key', column: 'private_key' },
] as const;

/**
 * Opens the key ring, creating it only if nothing was sealed before. Throws `KeyringError` if it lacks a key that is in
 * use.
 */
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

interface OpenedSecrets {
  readonly secrets: number;
  /** False if there are some, and no key ring. */
  readonly areOpened: boolean;
  /** Lines for people, one for each that does not open. */
  readonly problems: readonly string[];
}

/** Opens every secret. `findRing` is called if there are any; without a key ring they stay closed. */
export async function openSecrets(x: Executor, findRing: () => Keyring | undefined): Promise<OpenedSecrets> {
  const webhooks = await readWebhookSecrets(x);
  const found: SealedSecret[] = webhooks.map(({ id, sealed }) => ({ place: webhookSecretLocation(id), sealed }));
  for (const column of SEALED_COLUMNS) found.push(...(await readColumn(x, column)));
  for (const resource of SEALED_RESOURCES) found.push(...(await readResources(x, resource)));
  const sealed = found.filter((secret) => secret.sealed !== '');
  if (sealed.length === 0) return { secrets: 0, areOpened: true, problems: [] };
  const ring = findRing();
  if (ring === undefined) return { secrets: sealed.length, areOpened: false, problems: [] };
  return { secrets: sealed.length, areOpened: true, problems: sealed.flatMap((secret) => problemOf(ring, secret)) };
}

function problemOf(ring: Keyring, { place, sealed }: SealedSecret): readonly string[] {
  try {
    unseal(ring, place, sealed);
    return [];
  } catch (error) {
    if (error instanceof KeyringError) return [error.message];
    throw error;
  }
}

export interface Rotation {
  readonly keyId: string;
  /** Number of secrets sealed with the new key. */
  readonly secrets: number;
  /** Number of damaged secrets, which are left unchanged. */
  readonly unopened: number;
}

/**
 * Adds a key to the ring and seals every data key with it, in one transaction. No secret changes, so no edge is
 * notified. A process whose ring lacks the new key reads it from the file at the first secret that needs it.
 */
export function rotateKeyring(db: Db, ring: Keyring): Promise<Rotation> {
  let key: KeyEncryptionKey | undefined;
  return db.transaction(async (trx) => {
    await lockInTransaction(trx, 'keyring');
    key ??= ring.add(); // a retry uses the key of the first try
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

/** Here and below: a row that has changed since it was read was resealed by that change. */
async function sealColumn(trx: Executor, sealedColumn: SealedColumn, anew: SealAnew): Promise<void> {
  const { table, row, column } = sealedColumn;
  for (const { place, sealed } of await readColumn(trx, sealedColumn)) {
    await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${anew(place, sealed)}
        where ${sql.ref(row)} = ${place.row} and ${sql.ref(column)} = ${sealed}
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

/** Reseals certificates and live keys in the feed. Their revisions are kept. */
async function sealResources(trx: Executor, anew: SealAnew): Promise<void> {
  for (const resource of SEALED_RESOURCES) {
    const { kind, member } = resource;
    for (const { key, body, parsed, place, sealed } of await readResources(trx, resource)) {
      const changed = { ...parsed, [member]: anew(place, sealed) };
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

interface SealedSecret {
  readonly place: SecretLocation;
  readonly sealed: string;
}

type SealedColumn = (typeof SEALED_COLUMNS)[number];

async function readColumn(x: Executor, { table, row, column }: SealedColumn): Promise<readonly SealedSecret[]> {
  const { rows } = await sql<{ row: string | number; sealed: string }>`
    select ${sql.ref(row)} as row, ${sql.ref(column)} as sealed from ${sql.table(table)} where ${sql.ref(column)} <> ''
  `.execute(x);
  return rows.map(({ row: key, sealed }) => ({ place: { table, row: key, column }, sealed }));
}

async function readResources(x: Executor, { kind, member, locationOf }: SealedResource) {
  const rows = await x
    .selectFrom('resource')
    .select(['key', 'body'])
    .where('kind', '=', kind)
    .where('deleted', '=', 0)
    .execute();
  return rows.map(({ key, body }) => {
    // `as`: written by this room only, with the secret in that member.
    const parsed = JSON.parse(body) as Readonly<Record<string, string>>;
    return { key, body, parsed, place: locationOf(key), sealed: parsed[member] ?? '' };
  });
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
