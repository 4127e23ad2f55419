/** Tokens of any account, as operators make, narrow and revoke them. docs/decisions/0629 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Schema } from '#db/schema/schema.ts';
import {
  findToken,
  listTokens,
  lockTokens,
  revokeToken,
  saveTokenLimits,
  type TokenLimits,
} from '#db/tables/tokens.ts';
import type { Token } from '#model/account.ts';
import { addToken, refuseDomains } from '../auth/add-token.ts';
import { refuseWider } from '../auth/token-rights.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Handler } from './handler.ts';

type TokenRoute = `operator.${'create' | 'revoke' | 'narrow'}Token` | 'operator.listTokens';

export const OPERATOR_TOKEN_HANDLERS = {
  'operator.createToken': async ({ db, now }, asked) => {
    const { kind } = await findAccountOrRefuse(db, asked.accountId);
    return await db.transaction((trx) => addToken(trx, kind, { ...asked, now }));
  },

  'operator.listTokens': async ({ db }, { accountId }) => {
    await findAccountOrRefuse(db, accountId);
    return await listTokens(db.query, accountId);
  },

  'operator.revokeToken': async ({ db, now }, key) => {
    const { id } = orRefuse(await findToken(db.query, key.tokenId), key);
    await db.transaction((trx) => revokeToken(trx, id, now));
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
  await lockTokens(trx, key.accountId);
  const token = orRefuse(await findToken(trx, key.tokenId), key);
  const { scopes = token.scopes, access = token.access, domainIds = token.domainIds } = limits;
  refuseWider({ ...token, scopes, access, domainIds }, token);
  await refuseDomains(trx, token.accountId, { scopes, domainIds: limits.domainIds });
  await saveTokenLimits(trx, token.id, limits);
}

function orRefuse(token: Token | undefined, { accountId, tokenId }: TokenKey): Token {
  if (token?.accountId !== accountId) throw new ServiceError('tokenNotFound', { tokenId });
  return token;
}
