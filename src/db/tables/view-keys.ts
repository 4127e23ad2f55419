/** View keys: under them customers' secrets travel to the edges of a group. Each is used for a day. */
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { lockInTransaction } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '../secrets/sealing.ts';

export interface ViewKey {
  /** `<group>.<number>` */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const LIFE_MS = 24 * 3600 * 1000;
/** Time for which a key that is no longer used can still be fetched: no delta or file of a snapshot is older. */
const KEEP_MS = 24 * 3600 * 1000;
const KEY_BYTES = 32;

/** Returns the id of the key that is in use; `undefined` if a new one must be made. */
export async function findViewKeyInUse(x: Executor, group: string, now: number): Promise<string | undefined> {
  const row = await x
    .selectFrom('view_key')
    .select(['id', 'expires_at'])
    .where('group_name', '=', group)
    .orderBy('n', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined && row.expires_at > now && row.expires_at <= now + LIFE_MS ? row.id : undefined;
}

/** Makes a key, unless another control has made one meanwhile. Returns the id of the key in use. */
export async function makeViewKey(
  trx: Transaction<Schema>,
  ring: Keyring,
  { group, now }: { readonly group: string; readonly now: number },
): Promise<string> {
  await lockInTransaction(trx, `view key:${group}`);
  const present = await findViewKeyInUse(trx, group, now);
  if (present !== undefined) return present;
  const { last } = await trx
    .selectFrom('view_key')
    .select((e) => e.fn.max('n').as('last'))
    .where('group_name', '=', group)
    .executeTakeFirstOrThrow();
  const n = Number(last ?? 0) + 1;
  const id = `${group}.${n}`;
  const secret = seal(ring, viewKeyLocation(id), randomBytes(KEY_BYTES));
  await trx
    .insertInto('view_key')
    .values({ id, group_name: group, n, secret, expires_at: now + LIFE_MS })
    .execute();
  return id;
}

/** Returns those of the group's keys with these ids that are still kept. Throws `KeyringError`. */
export async function openViewKeys(
  x: Executor,
  ring: Keyring,
  { group, ids }: { readonly group: string; readonly ids: readonly string[] },
): Promise<readonly ViewKey[]> {
  const rows = await x
    .selectFrom('view_key')
    .select(['id', 'secret'])
    .where('group_name', '=', group)
    .where('id', 'in', ids)
    .where('secret', '<>', '')
    .execute();
  return rows.map(({ id, secret }) => ({ id, key: unseal(ring, viewKeyLocation(id), secret) }));
}

/** Ends the use of a group's key: an edge has left the group, so what is sent from now on needs a key it never had. */
export async function endViewKey(trx: Transaction<Schema>, group: string, now: number): Promise<void> {
  await trx
    .updateTable('view_key')
    .set({ expires_at: now })
    .where('group_name', '=', group)
    .where('expires_at', '>', now)
    .execute();
}

/** Deletes keys that nothing names any more; the newest of each group stays, so that numbers are not given again. */
export async function pruneViewKeys(trx: Transaction<Schema>, now: number): Promise<void> {
  await trx
    .deleteFrom('view_key')
    .where('expires_at', '<', now - KEEP_MS)
    .where((e) =>
      e.exists(
        e
          .selectFrom('view_key as newer')
          .select('newer.id')
          .whereRef('newer.group_name', '=', 'view_key.group_name')
          .whereRef('newer.n', '>', 'view_key.n'),
      ),
    )
    .execute();
}

function viewKeyLocation(id: string): SecretLocation {
  return { table: 'view_key', row: id, column: 'secret' };
}
