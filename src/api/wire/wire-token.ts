/** Access tokens, their words on the wire and in the model. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { TOKEN_ADDRESSES } from '#contract/token-fields.ts';
import type { Token } from '#model/account.ts';
import { parseAddressEntry } from '#sites/address-list.ts';
import { entriesOf, readList } from './wire-access.ts';
import type { Look } from './wire-domain.ts';

export function readNewToken(request: RequestOf<'operator.createToken'>) {
  const { account_id, scopes, access, domain_ids, label = '', expires_at, addresses = [] } = request;
  return {
    accountId: account_id,
    scopes,
    access,
    domainIds: domain_ids,
    label,
    expiresAt: expires_at === undefined ? undefined : expires_at * 1000,
    addresses: entriesOf(readList('addresses', TOKEN_ADDRESSES.each, parseAddressEntry, addresses)),
  };
}

export function writeToken(token: Token, { formatTime }: Look): DataOf<'operator.listTokens'>['list'][0] {
  return {
    token_id: String(token.id),
    label: token.label,
    scopes: [...token.scopes],
    access: [...token.access],
    domain_ids: (token.domainIds ?? []).map(String),
    create_time: formatTime(token.createdAt),
    expire_time: token.expiresAt === undefined ? '' : formatTime(token.expiresAt),
    revoke_time: token.revokedAt === undefined ? '' : formatTime(token.revokedAt),
    addresses: [...(token.addresses ?? [])],
  };
}
