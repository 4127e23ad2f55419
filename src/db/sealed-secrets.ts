/** Every secret that lies sealed in the database: which keys of the ring they need. */
import { sql } from 'kysely';
import { type Keyring, KeyringError, loadKeyring, loadOrMakeKeyring } from './keyring.ts';
import type { Executor } from './schema.ts';
import { SEALED_PREFIX_CHARS, sealedWith } from './sealing.ts';

/** Whoever stores sealed secrets in another column adds it here; those within the settings of SMS services are read below. */
const SEALED_COLUMNS: readonly { readonly table: string; readonly column: string }[] = [
  { table: 'certificate', column: 'private_key' },
  { table: 'sms_connector', column: 'secret' },
];

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
  const apps = await x
    .selectFrom('sms_app')
    .select('settings')
    .where('settings', 'like', '%"webhookSecret"%')
    .execute();
  for (const { settings } of apps) {
    // `as`: written by `sms-deliveries.ts` only.
    const { webhookSecret } = JSON.parse(settings) as { readonly webhookSecret?: string };
    if (webhookSecret !== undefined) found.add(sealedWith(webhookSecret));
  }
  return [...found];
}
