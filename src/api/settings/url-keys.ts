/** The keys of a domain's signed URLs: no setting, since they are secret. docs/decisions/0637 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { readLiveKeys, saveLiveKeys } from '#db/tables/live/keys.ts';
import type { Change } from '#db/tables/resources.ts';
import type { Domain } from '#model/domain.ts';

/** Keys that are `undefined` stay; an empty one is removed. */
export interface AskedUrlKeys {
  readonly domainId: number;
  readonly primaryKey?: string | undefined;
  readonly secondaryKey?: string | undefined;
}

interface KeyContext {
  readonly keyring: Keyring;
  readonly accountId: number;
  readonly now: number;
}

/** The keys that the domain has then, the primary one first. */
export async function urlKeysAfter(
  trx: Transaction<Schema>,
  keyring: Keyring,
  { domainId, primaryKey, secondaryKey }: AskedUrlKeys,
): Promise<readonly string[]> {
  const [primary = '', secondary = ''] = (await readLiveKeys(trx, keyring, domainId)).urls ?? [];
  return withoutEmpty([primaryKey ?? primary, secondaryKey ?? secondary]);
}

/** Returns what is to be published: nothing if the keys stay. */
export async function saveUrlKeys(
  trx: Transaction<Schema>,
  { keyring, accountId, now }: KeyContext,
  asked: AskedUrlKeys,
  { name }: Pick<Domain, 'name'>,
): Promise<readonly Change[]> {
  const { domainId } = asked;
  const urls = await urlKeysAfter(trx, keyring, asked);
  const before = await readLiveKeys(trx, keyring, domainId);
  if (urls.join() === withoutEmpty(before.urls ?? []).join()) return [];
  const target = { kind: 'domain', id: String(domainId), name } as const;
  noteChanges(trx, [{ accountId, target, before: {}, after: { 'signing.keys': { changed: true } } }]);
  return [await saveLiveKeys(trx, keyring, { domainId, keys: { ...before, urls }, now })];
}

function withoutEmpty(keys: readonly string[]): readonly string[] {
  return [...new Set(keys)].filter((key) => key !== '');
}
