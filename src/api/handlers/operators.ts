/** The `/operator/*` operations: accounts, their tokens, and what only the operator may do to a domain. */
import type { RouteName } from '#contract/routes.ts';
import { ServiceError } from '#contract/service-error.ts';
import type { Db } from '#db/open.ts';
import { rotateKeyring } from '#db/rotation/sealed-secrets.ts';
import { countAccounts, createAccount, findAccount, listAccounts, setAccountDisabled } from '#db/tables/accounts.ts';
import { createToken, findToken, listTokens, narrowToken, revokeToken } from '#db/tables/tokens.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import type { Account, AccountKind, Scope, Token } from '#model/account.ts';
import { changeDomain, transferDomain } from '../settings/change.ts';
import type { Handler } from './handler.ts';
import { listDomainViews } from './list-domains.ts';
import { changeState } from './state.ts';

/** An operator's token works on `/operator/*` only, so it has nothing to do on a customer's account. */
const SCOPES_OF_KIND: Readonly<Record<AccountKind, readonly Scope[]>> = {
  customer: ['cdn', 'sms'],
  operator: ['operator'],
};

export const OPERATOR_HANDLERS = {
  'operator.createAccount': ({ db, now }, { name, kind }) => createAccount(db.query, { name, kind, now }),

  'operator.listAccounts': async ({ db }, page) => ({
    total: await countAccounts(db.query),
    accounts: await listAccounts(db.query, page),
  }),

  'operator.createToken': async ({ db, now }, { accountId, scopes, label, expiresAt, addresses }) => {
    const { kind } = await findAccountOrRefuse(db, accountId);
    const allowed = SCOPES_OF_KIND[kind];
    if (scopes.some((scope) => !allowed.includes(scope))) {
      throw new ServiceError('scopesRefused', { allowed: allowed.join(', ') });
    }
    if (expiresAt !== undefined && expiresAt <= now)
      throw new ServiceError('expiryPast', { given: expiresAt / 1000, moment: new Date(expiresAt).toISOString() });
    const accessToken = mintToken();
    const hash = hashToken(accessToken);
    const token = await createToken(db.query, { accountId, scopes, label, expiresAt, addresses, hash, now });
    return { token, accessToken };
  },

  'operator.listTokens': async ({ db }, { accountId }) => {
    await findAccountOrRefuse(db, accountId);
    return await listTokens(db.query, accountId);
  },

  'operator.revokeToken': async ({ db, now }, key) => {
    const { id } = await findTokenOrRefuse(db, key);
    await revokeToken(db.query, id, now);
  },

  'operator.narrowToken': async ({ db }, { scopes, ...key }) => {
    const token = await findTokenOrRefuse(db, key);
    if (scopes.some((scope) => !token.scopes.includes(scope))) {
      throw new ServiceError('scopesWidened', { present: token.scopes.join(', ') });
    }
    await narrowToken(db.query, token.id, scopes);
  },

  'operator.listDomains': async ({ db, now }, filter) => {
    if (filter.accountId !== undefined) await findAccountOrRefuse(db, filter.accountId);
    return await listDomainViews(db, now, filter);
  },

  'operator.transferDomain': async ({ db, maxDomains, keyring, now }, { accountId, domainId, toAccountId }) => {
    const { kind } = await findAccountOrRefuse(db, toAccountId);
    if (kind !== 'customer') throw new ServiceError('accountNotCustomer', { accountId: toAccountId });
    await transferDomain(db, { accountId, domainId }, { toAccountId, maxDomains, ring: keyring, now });
  },

  'operator.setDomainStatus': async ({ db, now }, { accountId, domainId, action }) => {
    await changeDomain(db, { accountId, domainId }, now, (domain) => changeState(domain, action));
  },

  'operator.rotateKeyring': ({ db, keyring }) => rotateKeyring(db, keyring),

  'operator.setAccountStatus': async ({ db, now, accountId: own }, { accountId, isEnabled }) => {
    await findAccountOrRefuse(db, accountId);
    if (accountId === own && !isEnabled) throw new ServiceError('accountOwn', { accountId });
    await setAccountDisabled(db.query, accountId, isEnabled ? undefined : now);
  },
} satisfies { readonly [N in RouteName as N extends `operator.${string}` ? N : never]: Handler<N> };

export async function findAccountOrRefuse(db: Db, accountId: number): Promise<Account> {
  const account = await findAccount(db.query, accountId);
  if (account === undefined) throw new ServiceError('accountNotFound', { accountId });
  return account;
}

async function findTokenOrRefuse(
  db: Db,
  { accountId, tokenId }: { readonly accountId: number; readonly tokenId: number },
): Promise<Token> {
  const token = await findToken(db.query, tokenId);
  if (token?.accountId !== accountId) throw new ServiceError('tokenNotFound', { tokenId });
  return token;
}
