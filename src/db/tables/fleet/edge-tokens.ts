/** Tokens with which machines become edges; of each only the hash of its secret is stored. */
import type { Selectable } from 'kysely';
import { toModelNames } from '#lib/model-names.ts';
import type { EdgeLabels, EdgeToken } from '#model/fleet.ts';
import type { FleetTables } from '../../schema/fleet.ts';
import type { Executor } from '../../schema/schema.ts';

const KEEP_MS = 30 * 86_400_000;

export interface NewEdgeToken extends Omit<EdgeToken, 'id' | 'used' | 'revokedAt'> {
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
}

/** Returns the token's id. */
export async function addEdgeToken(x: Executor, token: NewEdgeToken): Promise<number> {
  const { hash, authority, edge, replaces, group, labels, addresses, uses, createdAt, expiresAt } = token;
  const { id } = await x
    .insertInto('edge_token')
    .values({
      hash,
      authority,
      edge: edge ?? null,
      replaces: Number(replaces),
      group_name: group,
      labels: JSON.stringify(labels),
      addresses: addresses === undefined ? null : JSON.stringify(addresses),
      uses,
      created_at: createdAt,
      expires_at: expiresAt,
      revoked_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function findEdgeToken(x: Executor, hash: string): Promise<EdgeToken | undefined> {
  const row = await x.selectFrom('edge_token').selectAll().where('hash', '=', hash).executeTakeFirst();
  return row && toToken(row);
}

/** Lists all tokens, newest first. */
export async function listEdgeTokens(x: Executor): Promise<readonly EdgeToken[]> {
  const rows = await x.selectFrom('edge_token').selectAll().orderBy('id', 'desc').execute();
  return rows.map(toToken);
}

export async function countEdgeTokenUse(trx: Executor, id: number): Promise<void> {
  await trx
    .updateTable('edge_token')
    .set((e) => ({ used: e('used', '+', 1) }))
    .where('id', '=', id)
    .execute();
}

/** Returns false if there is no such token. A token that is revoked already stays as it is. */
export async function revokeEdgeToken(x: Executor, id: number, now: number): Promise<boolean> {
  const revoked = await x
    .updateTable('edge_token')
    .set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(now)) }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return revoked !== undefined;
}

/** Deletes tokens that expired more than 30 days ago. */
export async function pruneEdgeTokens(x: Executor, now: number): Promise<void> {
  await x
    .deleteFrom('edge_token')
    .where('expires_at', '<', now - KEEP_MS)
    .execute();
}

function toToken(row: Selectable<FleetTables['edge_token']>): EdgeToken {
  const { hash: _hash, group_name: group, addresses, ...plain } = row;
  return {
    ...toModelNames(plain),
    group,
    replaces: row.replaces === 1,
    // `as`: written by `addEdgeToken` only.
    labels: JSON.parse(row.labels) as EdgeLabels,
    addresses: addresses === null ? undefined : (JSON.parse(addresses) as string[]), // as above
  };
}
