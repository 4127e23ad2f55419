/** Access tokens by their hash. A revoked or expired token is still found; whether it is good is `isTokenUsable`. */
import { type Account, SCOPES, type Scope, type Token } from '#model/account.ts';
import { toAccount } from './accounts.ts';
import type { Executor, TokenRow } from './schema.ts';

export interface NewToken {
  readonly accountId: number;
  readonly scopes: readonly Scope[];
  readonly label: string;
  /** Absent: never. */
  readonly expiresAt?: number | undefined;
  /** `hashToken` of the token. */
  readonly hash: string;
  readonly now: number;
}

/** Throws when the account does not exist. */
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
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toToken(row);
}

export async function findTokenByHash(
  x: Executor,
  hash: string,
): Promise<{ readonly token: Token; readonly account: Account } | undefined> {
  const row = await x.selectFrom('token').selectAll().where('hash', '=', hash).executeTakeFirst();
  if (row === undefined) return undefined;
  const account = await x.selectFrom('account').selectAll().where('id', '=', row.account_id).executeTakeFirstOrThrow();
  return { token: toToken(row), account: toAccount(account) };
}

export async function findToken(x: Executor, id: number): Promise<Token | undefined> {
  const row = await x.selectFrom('token').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toToken(row);
}

/** Every token the account ever had, in the order they were made. */
export async function listTokens(x: Executor, accountId: number): Promise<readonly Token[]> {
  const rows = await x.selectFrom('token').selectAll().where('account_id', '=', accountId).orderBy('id').execute();
  return rows.map(toToken);
}

/** The first time counts. False when there is no such token. */
export async function revokeToken(x: Executor, id: number, now: number): Promise<boolean> {
  const row = await x
    .updateTable('token')
    .set((e) => ({ revoked_at: e.fn.coalesce('revoked_at', e.val(now)) }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Keeps only those of the token's scopes that `scopes` names; nothing is ever added. */
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
  };
}
