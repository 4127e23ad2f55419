/** Access tokens, their words on the wire and in the model. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { TOKEN_ADDRESSES } from '#contract/operators/token-fields.ts';
import type { RouteName } from '#contract/routes.ts';
import { toModelNames } from '#lib/model-names.ts';
import type { Token } from '#model/account.ts';
import { parseAddressEntry } from '#sites/address-list.ts';
import { entriesOf, readList } from './wire-access.ts';
import type { Look } from './wire-domain.ts';
import { writeSeconds } from './wire-values.ts';
import type { Writers } from './writers.ts';

export function readNewToken(request: RequestOf<'operator.createToken'>) {
  return { accountId: request.account_id, ...readRights(request) };
}

function readRights(request: RequestOf<'token.create'>) {
  const { scopes, access, domain_ids, label = '', expires_at, addresses = [] } = request;
  return {
    scopes,
    access,
    domainIds: domain_ids,
    label,
    expiresAt: expires_at === undefined ? undefined : expires_at * 1000,
    addresses: entriesOf(readList('addresses', TOKEN_ADDRESSES.each, parseAddressEntry, addresses)),
  };
}

export const READ_TOKENS = {
  'token.list': () => undefined,
  'token.create': readRights,
  'token.rotate': toModelNames<RequestOf<'token.rotate'>>,
  'token.revoke': toModelNames<RequestOf<'token.revoke'>>,
} satisfies { readonly [N in TokenRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_TOKENS = {
  'token.list': (
    { tokens, current }: { readonly tokens: readonly Token[]; readonly current: number | undefined },
    look,
  ) => ({
    list: tokens.map((token) => writeToken(token, look)),
    current: current === undefined ? '' : String(current),
  }),
  'token.create': writeMadeToken,
  'token.rotate': ({ formerUntil, ...made }: Made & { readonly formerUntil: number }) => ({
    ...writeMadeToken(made),
    former_expires_at: writeSeconds(formerUntil),
  }),
} satisfies Writers<TokenRoute>;

type TokenRoute = Extract<RouteName, `token.${string}`>;

interface Made {
  readonly token: Token;
  readonly accessToken: string;
}

export function writeMadeToken({ token, accessToken }: Made) {
  return { token_id: String(token.id), access_token: accessToken };
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
    last_used_time: token.lastUsedAt === undefined ? '' : formatTime(token.lastUsedAt),
    addresses: [...(token.addresses ?? [])],
  };
}
