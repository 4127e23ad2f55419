/** The keys of domains, for live streams and signed URLs: sealed in the database, published for edges. docs/decisions/0501 */
import type { Transaction } from 'kysely';
import { LIVE_KEYS_KIND } from '#model/live-stream.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import type { Keyring } from '../../secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '../../secrets/sealing.ts';
import type { Change } from '../resources.ts';

/** Keys of a domain, at most two of each kind, the primary key first. */
export interface StoredLiveKeys {
  readonly publish: readonly string[];
  readonly play: readonly string[];
  /** Keys of signed URLs; absent: there are none. docs/decisions/0637 */
  readonly urls?: readonly string[];
}

/** The feed resource before the feed unseals it. */
export interface SealedLiveKeys {
  /** JSON of `StoredLiveKeys`, sealed for `liveKeysLocation`. */
  readonly sealed: string;
}

const NO_KEYS: StoredLiveKeys = { publish: [], play: [] };

export function liveKeysLocation(domainId: number): SecretLocation {
  return { table: 'live_keys', row: domainId, column: 'sealed_keys' };
}

/** Returns the domain's keys; none if an export left them out. Throws `KeyringError`. */
export async function readLiveKeys(x: Executor, ring: Keyring, domainId: number): Promise<StoredLiveKeys> {
  const row = await x
    .selectFrom('live_keys')
    .select('sealed_keys')
    .where('domain_id', '=', domainId)
    .executeTakeFirst();
  if (row === undefined || row.sealed_keys === '') return NO_KEYS;
  return openLiveKeys(ring, domainId, row.sealed_keys);
}

/** Throws `KeyringError`. */
export function openLiveKeys(ring: Keyring, domainId: number, sealed: string): StoredLiveKeys {
  // `as`: written by `saveLiveKeys` only.
  return JSON.parse(unseal(ring, liveKeysLocation(domainId), sealed).toString('utf8')) as StoredLiveKeys;
}

/** The caller holds the lock of the domain and publishes the returned change. */
export async function saveLiveKeys(
  trx: Transaction<Schema>,
  ring: Keyring,
  { domainId, keys, now }: { readonly domainId: number; readonly keys: StoredLiveKeys; readonly now: number },
): Promise<Change> {
  const sealed = seal(ring, liveKeysLocation(domainId), Buffer.from(JSON.stringify(keys)));
  const values = { sealed_keys: sealed, changed_at: now };
  await trx
    .insertInto('live_keys')
    .values({ domain_id: domainId, ...values })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(values))
    .execute();
  return { kind: LIVE_KEYS_KIND, key: String(domainId), op: 'put', body: { sealed } satisfies SealedLiveKeys };
}
