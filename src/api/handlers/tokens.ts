/**
 * An account's own tokens. A token makes, sees, rotates and revokes those that may do no more than itself; others are not
 * there for it. A person has the rights of the role. docs/decisions/0630
 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { findAccount } from '#db/tables/accounts.ts';
import { findToken, listTokens, lockTokens, replaceSecret, revokeToken } from '#db/tables/tokens.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { isTokenUsable, type Token } from '#model/account.ts';
import { addToken } from '../auth/add-token.ts';
import { refusalOfWider, refuseWider, type TokenRights } from '../auth/token-rights.ts';
import type { Call, Handler } from './handler.ts';

/** Time in which the former secret of a token that was rotated still works. */
const DEFAULT_OVERLAP_SECONDS = 24 * 3600;

export const TOKEN_HANDLERS = {
  'token.list': async (call) => {
    const own = await findOwnRights(call.db.query, call);
    const tokens = await listTokens(call.db.query, call.accountId);
    const current = call.by.person === undefined ? call.tokenId : undefined;
    return { tokens: tokens.filter((token) => refusalOfWider(token, own) === undefined), current };
  },

  'token.create': (call, asked) =>
    call.db.transaction(async (trx) => {
      const own = await findOwnRights(trx, call);
      const { access = own.access, domainIds = own.domainIds, expiresAt = own.expiresAt } = asked;
      const rights = { ...asked, access, domainIds, expiresAt, addresses: asked.addresses ?? own.addresses };
      refuseWider(rights, own);
      const { id: accountId, kind } = await findAccountOf(trx, call);
      return await addToken(trx, kind, { ...rights, accountId, now: call.now });
    }),

  'token.rotate': (call, { tokenId, overlapSeconds = DEFAULT_OVERLAP_SECONDS }) =>
    call.db.transaction(async (trx) => {
      const token = await findToChange(trx, call, tokenId);
      if (!isTokenUsable(token, call.now)) throw new ServiceError('tokenEnded', { tokenId });
      const accessToken = mintToken();
      const formerUntil = call.now + overlapSeconds * 1000;
      await replaceSecret(trx, tokenId, { hash: hashToken(accessToken), formerUntil });
      return { token, accessToken, formerUntil };
    }),

  'token.revoke': async (call, { tokenId }) => {
    await call.db.transaction(async (trx) => {
      const token = await findToChange(trx, call, tokenId);
      if (call.by.person === undefined) await refuseLast(trx, token, call.now); // people make another
      await revokeToken(trx, tokenId, call.now);
    });
  },
} satisfies { readonly [N in RouteName as N extends `token.${string}` ? N : never]: Handler<N> };

/** What the token of this call may do, or the person. */
async function findOwnRights(x: Executor, { tokenId, by }: Call): Promise<TokenRights> {
  if (by.person !== undefined) return { scopes: by.scopes, access: by.access };
  const own = await findToken(x, tokenId);
  if (own === undefined) throw new ServiceError('accountMissing');
  return own;
}

async function findAccountOf(x: Executor, { accountId }: Call) {
  const account = await findAccount(x, accountId);
  if (account === undefined) throw new ServiceError('accountMissing');
  return account;
}

/** Locks the account's tokens until the transaction ends. */
async function findToChange(trx: Transaction<Schema>, call: Call, tokenId: number): Promise<Token> {
  await lockTokens(trx, call.accountId);
  const own = await findOwnRights(trx, call);
  const token = await findToken(trx, tokenId);
  if (token?.accountId !== call.accountId || refusalOfWider(token, own) !== undefined)
    throw new ServiceError('tokenNotFound', { tokenId });
  return token;
}

/** The account would be locked out of its own tokens, and had to ask an operator. */
async function refuseLast(x: Executor, token: Token, now: number): Promise<void> {
  const manages = (one: Token) => one.access.includes('manage') && isTokenUsable(one, now);
  if (!manages(token)) return;
  const tokens = await listTokens(x, token.accountId);
  if (!tokens.some((one) => one.id !== token.id && manages(one)))
    throw new ServiceError('tokenLast', { tokenId: token.id });
}
