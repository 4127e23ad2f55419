/** Adds a token to an account, within the limit of tokens. docs/decisions/0630 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { findMissingDomain } from '#db/tables/domains.ts';
import {
  countUsableTokens,
  createToken,
  deleteEndedTokens,
  lockTokens,
  type NewToken,
  type TokenLimits,
} from '#db/tables/tokens.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { type AccountKind, SCOPES_OF_KIND, type Token } from '#model/account.ts';

/** Tokens of an account that can be used; as many that have ended are kept besides. */
const MAX_TOKENS = 100;

/** A token, and what it is used with: shown once. */
export interface MadeToken {
  readonly token: Token;
  readonly accessToken: string;
}

export async function addToken(
  trx: Transaction<Schema>,
  kind: AccountKind,
  asked: Omit<NewToken, 'hash'>,
): Promise<MadeToken> {
  const { accountId, scopes, expiresAt, now } = asked;
  const allowed = SCOPES_OF_KIND[kind];
  if (scopes.some((scope) => !allowed.includes(scope)))
    throw new ServiceError('scopesRefused', { allowed: allowed.join(', ') });
  if (expiresAt !== undefined && expiresAt <= now)
    throw new ServiceError('expiryPast', { given: expiresAt / 1000, moment: new Date(expiresAt).toISOString() });
  await refuseDomains(trx, accountId, asked);
  await lockTokens(trx, accountId);
  if ((await countUsableTokens(trx, accountId, now)) >= MAX_TOKENS)
    throw new ServiceError('tokenLimit', { limit: MAX_TOKENS });
  await deleteEndedTokens(trx, { accountId, keep: MAX_TOKENS, now });
  const accessToken = mintToken();
  const token = await createToken(trx, { ...asked, hash: hashToken(accessToken) });
  const { access, domainIds, addresses, label } = asked;
  const target = { kind: 'token', id: String(token.id), name: label } as const;
  noteChanges(trx, [{ accountId, target, before: {}, after: { scopes, access, domainIds, addresses, expiresAt } }]);
  return { token, accessToken };
}

/** Domains are those of the account, and of the one scope that has any. */
export async function refuseDomains(
  x: Executor,
  accountId: number,
  { scopes, domainIds }: Pick<Token, 'scopes'> & Pick<TokenLimits, 'domainIds'>,
): Promise<void> {
  if (domainIds === undefined) return;
  if (scopes.length !== 1 || scopes[0] !== 'cdn') throw new ServiceError('domainIdsUnused');
  const domainId = await findMissingDomain(x, { accountId, domainIds });
  if (domainId !== undefined) throw new ServiceError('domainNotFound', { domainId });
}
