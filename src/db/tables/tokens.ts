/** Access tokens by hash. Revoked and expired tokens are still found; `isTokenUsable` checks them. */
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { ACCESS, type Account, SCOPES, type Scope, type Token, type TokenAccess } from '#model/account.ts';
import { lockInTransaction } from '../engines/engine.ts';
import type { Executor, Schema, TokenRow } from '../schema/schema.ts';
import { rowStatement, statement } from '../statements/statement.ts';
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
      access: token.access?.length === ACCESS.length ? null : toColumn(token.access),
      domain_ids: toColumn(token.domainIds),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toToken(row);
}

export interface TokenOfAccount {
  readonly token: Token;
  readonly account: Account;
  /** When it ends, if the hash is of the token's former secret. */
  readonly formerUntil?: number;
}

/** Finds tokens with their accounts, by the hash of their secret or of their former one. Unknown hashes are absent. */
export async function findTokensByHash(
  x: Executor,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, TokenOfAccount>> {
  const found = await x.executeQuery(selectByHash({ hashes: hashes.map((hash) => [hash]) }).compile(x));
  return new Map(
    found.rows.map(({ asked, name, kind, made_at, disabled_at, limits, over_since, second_factor, ...token }) => {
      const of = { name, kind, created_at: made_at, disabled_at, limits, over_since, second_factor };
      const row = { id: token.account_id, ...of };
      const account = toAccount(row);
      const isFormer = asked !== token.hash;
      return [asked, { token: toToken(token), account, ...(isFormer && { formerUntil: token.former_until ?? 0 }) }];
    }),
  );
}

const selectByHash = statement({ hashes: 'rows' }, ({ hashes }) => {
  const selectBy = (column: RawBuilder<unknown>) => sql`
    select ${column} as asked, t.*, a.name, a.kind, a.created_at as made_at, a.disabled_at, a.limits, a.over_since, a.second_factor
    from token as t join account as a on a.id = t.account_id
    where ${column} in (select value ->> 0 from ${hashes})`;
  return sql<FoundRow>`${selectBy(sql`t.hash`)} union all ${selectBy(sql`t.former_hash`)}`;
});

type FoundRow = TokenRow & {
  readonly asked: string;
  readonly name: string;
  readonly kind: string;
  readonly made_at: number;
  readonly disabled_at: number | null;
  readonly limits: string;
  readonly over_since: number | null;
  readonly second_factor: number | null;
};

export async function findToken(x: Executor, id: number): Promise<Token | undefined> {
  const row = await x.selectFrom('token').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toToken(row);
}

/** Locks the tokens of an account until the transaction ends. */
export async function lockTokens(trx: Transaction<Schema>, accountId: number): Promise<void> {
  await lockInTransaction(trx, `tokens:${accountId}`);
}

export async function countUsableTokens(x: Executor, accountId: number, now: number): Promise<number> {
  const { count } = await x
    .selectFrom('token')
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Deletes revoked and expired tokens of an account, but for the newest `keep`. */
export async function deleteEndedTokens(
  x: Executor,
  { accountId, keep, now }: { readonly accountId: number; readonly keep: number; readonly now: number },
): Promise<void> {
  const ended = x
    .selectFrom('token')
    .select('id')
    .where('account_id', '=', accountId)
    .where((e) => e.or([e('revoked_at', 'is not', null), e('expires_at', '<=', now)]))
    .orderBy('id', 'desc');
  const [first] = await ended.limit(1).offset(keep).execute();
  if (first !== undefined) await x.deleteFrom('token').where('id', 'in', ended).where('id', '<=', first.id).execute();
}

/** Gives a token another secret, whose hash is `hash`. The present one becomes its former one, instead of an earlier one. */
export async function replaceSecret(
  x: Executor,
  id: number,
  { hash, formerUntil }: { readonly hash: string; readonly formerUntil: number },
): Promise<void> {
  await x
    .updateTable('token')
    .set((e) => ({ hash, former_hash: e.ref('hash'), former_until: formerUntil }))
    .where('id', '=', id)
    .execute();
}

/** Time that passes at least between two writes of a token's last use, whichever controls it calls. */
const USE_EVERY_MS = 60_000;

const saveUses = rowStatement({ id: 'bigint', at: 'bigint' }, ({ v, from, among }) => {
  return sql`
    update token set last_used_at = ${v.at} ${from}
    where token.id = ${v.id} and ${among(sql`token.id`, 'id')}
      and coalesce(last_used_at, 0) <= ${v.at} - ${sql.lit(USE_EVERY_MS)}`;
});

/** Saves when tokens were last used, by id. A time within a minute of the one that is there is not written. */
export async function saveTokenUses(trx: Transaction<Schema>, uses: ReadonlyMap<number, number>): Promise<void> {
  await lockInTransaction(trx, 'token uses'); // of two controls each would wait for rows of the other
  const save = saveUses(trx, [...uses]);
  if (save !== undefined) await trx.executeQuery(save.compile(trx));
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
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
    // `as`: this file is the only one that writes them.
    ...(row.addresses !== null && { addresses: JSON.parse(row.addresses) as readonly string[] }),
    ...(row.domain_ids !== null && { domainIds: JSON.parse(row.domain_ids) as readonly number[] }),
  };
}
