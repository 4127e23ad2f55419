/** Tokens of any account, as operators make, narrow and revoke them. docs/decisions/0629 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/service-error.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { findMissingDomain } from '#db/tables/domains.ts';
import {
  createToken,
  findToken,
  findTokenToChange,
  listTokens,
  revokeToken,
  saveTokenLimits,
  type TokenLimits,
} from '#db/tables/tokens.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import type { AccountKind, Scope, Token } from '#model/account.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Handler } from './handler.ts';

/** An operator's token works on `/operator/*` only, so it has nothing to do on a customer's account. */
const SCOPES_OF_KIND: Readonly<Record<AccountKind, readonly Scope[]>> = {
  customer: ['cdn', 'sms'],
  operator: ['operator'],
};

type TokenRoute = `operator.${'create' | 'revoke' | 'narrow'}Token` | 'operator.listTokens';

export const OPERATOR_TOKEN_HANDLERS = {
  'operator.createToken': async ({ db, now }, asked) => {
    const { accountId, scopes, expiresAt } = asked;
    const { kind } = await findAccountOrRefuse(db, accountId);
    const allowed = SCOPES_OF_KIND[kind];
    if (scopes.some((scope) => !allowed.includes(scope))) {
      throw new ServiceError('scopesRefused', { allowed: allowed.join(', ') });
    }
    if (expiresAt !== undefined && expiresAt <= now)
      throw new ServiceError('expiryPast', { given: expiresAt / 1000, moment: new Date(expiresAt).toISOString() });
    await refuseDomains(db.query, accountId, asked);
    const accessToken = mintToken();
    const token = await createToken(db.query, { ...asked, hash: hashToken(accessToken), now });
    return { token, accessToken };
  },

  'operator.listTokens': async ({ db }, { accountId }) => {
    await findAccountOrRefuse(db, accountId);
    return await listTokens(db.query, accountId);
  },

  'operator.revokeToken': async ({ db, now }, key) => {
    const { id } = orRefuse(await findToken(db.query, key.tokenId), key);
    await revokeToken(db.query, id, now);
  },

  'operator.narrowToken': async ({ db }, { scopes, access, domainIds, ...key }) => {
    await db.transaction((trx) => narrow(trx, key, { scopes, access, domainIds }));
  },
} satisfies { readonly [N in TokenRoute]: Handler<N> };

interface TokenKey {
  readonly accountId: number;
  readonly tokenId: number;
}

async function narrow(trx: Transaction<Schema>, key: TokenKey, limits: TokenLimits): Promise<void> {
  const token = orRefuse(await findTokenToChange(trx, key.tokenId), key);
  refuseWidened(token, limits);
  const { scopes = token.scopes, domainIds } = limits;
  await refuseDomains(trx, token.accountId, { scopes, domainIds });
  await saveTokenLimits(trx, token.id, limits);
}

/** Throws if `limits` allow what the token does not. */
function refuseWidened(token: Token, { scopes, access, domainIds }: TokenLimits): void {
  if (isWider(scopes, token.scopes)) throw new ServiceError('scopesWidened', { present: token.scopes.join(', ') });
  if (isWider(access, token.access)) throw new ServiceError('accessWidened', { present: token.access.join(', ') });
  if (isWider(domainIds, token.domainIds))
    throw new ServiceError('domainIdsWidened', { present: token.domainIds?.join(', ') ?? '' });
}

function isWider<V>(asked: readonly V[] | undefined, present: readonly V[] | undefined): boolean {
  return present !== undefined && (asked?.some((value) => !present.includes(value)) ?? false);
}

/** Domains are those of the account, and of the one scope that has any. */
async function refuseDomains(
  x: Executor,
  accountId: number,
  { scopes, domainIds }: Pick<Token, 'scopes'> & Pick<TokenLimits, 'domainIds'>,
): Promise<void> {
  if (domainIds === undefined) return;
  if (scopes.length !== 1 || scopes[0] !== 'cdn') throw new ServiceError('domainIdsUnused');
  const domainId = await findMissingDomain(x, { accountId, domainIds });
  if (domainId !== undefined) throw new ServiceError('domainNotFound', { domainId });
}

function orRefuse(token: Token | undefined, { accountId, tokenId }: TokenKey): Token {
  if (token?.accountId !== accountId) throw new ServiceError('tokenNotFound', { tokenId });
  return token;
}
