/** Access tokens by hash. Revoked and expired tokens are still found; `isTokenUsable` checks them. */
import { sql, type Transaction } from 'kysely';
import { ACCESS, type Account, SCOPES, type Scope, type Token, type TokenAccess } from '#model/account.ts';
import { lockInTransaction } from '../engines/engine.ts';
import type { Executor, Schema, TokenRow } from '../schema/schema.ts';
import { statement } from '../statements/statement.ts';
import { toAccount } from './accounts.ts';

export interface NewToken {
  readonly accountId: number;
  readonly scopes: readonly Scope[];
  /** Absent: all. */
  readonly access?: readonly TokenAccess[] | undefined;
  /** Absent: all domains of the account. */
  readonly domainIds?: readonly number[] | undefined;
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
      addresses: toColumn(token.addresses),
      access: toColumn(token.access),
      domain_ids: toColumn(token.domainIds),
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

/** Like `findToken`, but locks the token until the transaction ends. */
export async function findTokenToChange(trx: Transaction<Schema>, id: number): Promise<Token | undefined> {
  await lockInTransaction(trx, `token:${id}`);
  return findToken(trx, id);
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

/** What a token may do. Absent members of a change keep what is there. */
export interface TokenLimits {
  readonly scopes?: readonly Scope[] | undefined;
  readonly access?: readonly TokenAccess[] | undefined;
  readonly domainIds?: readonly number[] | undefined;
}

/** Sets what the token may do. */
export async function saveTokenLimits(x: Executor, id: number, limits: TokenLimits): Promise<void> {
  const { scopes, access, domainIds } = limits;
  await x
    .updateTable('token')
    .set({
      ...(scopes !== undefined && { scopes: JSON.stringify(scopes) }),
      ...(access !== undefined && { access: JSON.stringify(access) }),
      ...(domainIds !== undefined && { domain_ids: JSON.stringify(domainIds) }),
    })
    .where('id', '=', id)
    .execute();
}

function toColumn(list: readonly unknown[] | undefined): string | null {
  return list === undefined ? null : JSON.stringify(list);
}

function toToken(row: TokenRow): Token {
  return {
    id: row.id,
    accountId: row.account_id,
    scopes: SCOPES.filter((scope) => JSON.parse(row.scopes).includes(scope)),
    access: row.access === null ? ACCESS : ACCESS.filter((access) => JSON.parse(row.access ?? '').includes(access)),
    label: row.label,
    createdAt: row.created_at,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
    // `as`: this file is the only one that writes them.
    ...(row.addresses !== null && { addresses: JSON.parse(row.addresses) as readonly string[] }),
    ...(row.domain_ids !== null && { domainIds: JSON.parse(row.domain_ids) as readonly number[] }),
  };
}
