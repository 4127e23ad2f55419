/** Access tokens by hash. Revoked and expired tokens are still found; `isTokenUsable` checks them. */
import { sql } from 'kysely';
import { type Account, SCOPES, type Scope, type Token } from '#model/account.ts';
import type { Executor, TokenRow } from '../schema/schema.ts';
import { statement } from '../statements/statement.ts';
import { toAccount } from './accounts.ts';

export interface NewToken {
  readonly accountId: number;
  readonly scopes: readonly Scope[];
  readonly label: string;
  /** Absent: the token does not expire. */
  readonly expiresAt?: number | undefined;
  /** Absent: the token may be used from any address. */
  readonly addresses?: readonly string[] | undefined;
  /** `hashToken` of the token. */
  readonly hash: string;
  readonly now: number;
}

/** Throws if the account does not exist. */
export async function createToken(x: Executor, token: NewToken): Promise<Token> {
  const row = await x
    .insertInto('token')
    .values({
      account_id: token.accountId,
      scopes: JSON.stringify(token.scopes),
      label: token.label,
      hash: token.hash,
      created_at: token.now,
      expires_at: token.expiresAt ?? null,
      revoked_at: null,
      addresses: token.addresses === undefined ? null : JSON.stringify(token.addresses),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toToken(row);
}

export interface TokenOfAccount {
  readonly token: Token;
  readonly account: Account;
}

/** Finds tokens with their accounts, by hash. Unknown hashes are absent. */
export async function findTokensByHash(
  x: Executor,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, TokenOfAccount>> {
  const found = await x.executeQuery(selectByHash({ hashes: hashes.map((hash) => [hash]) }).compile(x));
  return new Map(
    found.rows.map(({ name, kind, made_at, disabled_at, ...token }) => {
      const account = toAccount({ id: token.account_id, name, kind, created_at: made_at, disabled_at });
      return [token.hash, { token: toToken(token), account }];
    }),
  );
}

const selectByHash = statement({ hashes: 'rows' }, ({ hashes }) => {
  return sql<TokenRow & { name: string; kind: string; made_at: number; disabled_at: number | null }>`
    select t.*, a.name, a.kind, a.created_at as made_at, a.disabled_at
    from token as t join account as a on a.id = t.account_id
    where t.hash in (select value ->> 0 from ${hashes})`;
});

export async function findToken(x: Executor, id: number): Promise<Token | undefined> {
  const row = await x.selectFrom('token').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toToken(row);
}

/** Lists all tokens that the account ever had, in order of creation. */
export async function listTokens(x: Executor, accountId: number): Promise<readonly Token[]> {
  const rows = await x.selectFrom('token').selectAll().where('account_id', '=', accountId).orderBy('id').execute();
  return rows.map(toToken);
}

/** Revokes a token; the first revocation's time is kept. Returns false if there is no such token. */
export async function revokeToken(x: Executor, id: number, now: number): Promise<boolean> {
  const row = await x
    .updateTable('token')
    .set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(now)) }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Reduces the token's scopes to those in `scopes`; none are added. Returns `undefined` if there is no such token. */
export async function narrowToken(x: Executor, id: number, scopes: readonly Scope[]): Promise<Token | undefined> {
  const token = await findToken(x, id);
  if (token === undefined) return undefined;
  const kept = token.scopes.filter((scope) => scopes.includes(scope));
  await x
    .updateTable('token')
    .set({ scopes: JSON.stringify(kept) })
    .where('id', '=', id)
    .execute();
  return { ...token, scopes: kept };
}

function toToken(row: TokenRow): Token {
  const scopes: unknown = JSON.parse(row.scopes);
  return {
    id: row.id,
    accountId: row.account_id,
    scopes: SCOPES.filter((scope) => Array.isArray(scopes) && scopes.includes(scope)),
    label: row.label,
    createdAt: row.created_at,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
    // `as`: only `createToken` writes them.
    ...(row.addresses !== null && { addresses: JSON.parse(row.addresses) as readonly string[] }),
  };
}
