/** Fields of access tokens: what one may do, from where, and how it is shown. docs/decisions/0629 */
import * as z from 'zod';
import { ACCESS, SCOPES } from '../../model/account.ts';
import { choices, commaList, type Field, integer, MAX_UNIX_SECONDS, optional, text } from '../schema/fields.ts';
import { domainIds } from '../schema/id-lists.ts';

const MAX_LABEL_LENGTH = 64;
const MAX_ADDRESSES = 50;
const MAX_ADDRESS_LENGTH = 64;

export const scopes = choices(SCOPES, {
  'zh-CN': '权限数组，取自 cdn、sms、operator，至少一个',
  en: 'an array of scopes: at least one of cdn, sms, operator',
});

export const access = choices(ACCESS, {
  'zh-CN': '操作权限数组，取自 read（查询）、write（修改）、manage（管理令牌等）、money（资金），至少一个',
  en: 'an array of access: at least one of read, write, manage, money',
});

const ADDRESS_LIST = commaList({
  maxEntries: MAX_ADDRESSES,
  maxLength: MAX_ADDRESS_LENGTH,
  expects: {
    'zh-CN': `1 到 ${MAX_ADDRESSES} 个 IP 或网段（如 192.0.2.0/24），用逗号分隔或为数组`,
    en: `1 to ${MAX_ADDRESSES} IP addresses or networks such as 192.0.2.0/24, comma-separated or an array`,
  },
  each: {
    'zh-CN': 'IP 或网段，如 192.0.2.1、192.0.2.0/24、2001:db8::/32',
    en: 'an IP address or a network, such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32',
  },
});

export const TOKEN_ADDRESSES = { ...ADDRESS_LIST, schema: ADDRESS_LIST.schema.refine((list) => list.length > 0) };

/** A limit that may be absent. An empty one is refused, since a token without the limit would be good for everything. */
export function limit<S extends z.ZodType>(field: Field<S>) {
  return { ...field, schema: field.schema.optional() } satisfies Field;
}

export const NEW_TOKEN_FIELDS = {
  access: limit(access),
  domain_ids: limit(domainIds),
  label: optional(text({ max: MAX_LABEL_LENGTH })),
  expires_at: optional(integer(1, MAX_UNIX_SECONDS)),
  addresses: limit(TOKEN_ADDRESSES),
};

export const TOKEN_DATA = z
  .object({
    token_id: z.string(),
    label: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    access: z.array(z.enum(ACCESS)),
    domain_ids: z.array(z.string()).describe('domains that it is limited to; empty: all of the account'),
    create_time: z.string().describe('YYYY-MM-DD HH:MM:SS'),
    expire_time: z.string().describe('YYYY-MM-DD HH:MM:SS; empty: does not expire'),
    revoke_time: z.string().describe('YYYY-MM-DD HH:MM:SS; empty: not revoked'),
    last_used_time: z.string().describe('YYYY-MM-DD HH:MM:SS, to about a minute; empty: never used'),
    addresses: z.array(z.string()).describe('addresses and networks that it may be used from; empty: anywhere'),
  })
  .meta({ id: 'TokenRow' });

/** A token as it is shown once. */
export const MADE_TOKEN_DATA = z.object({ token_id: z.string(), access_token: z.string() }).meta({ id: 'MadeToken' });

export const SAMPLE_TOKEN: z.infer<typeof TOKEN_DATA> = {
  token_id: '7',
  label: 'deployment',
  scopes: ['cdn'],
  access: ['read', 'write'],
  domain_ids: [],
  create_time: '2026-01-31 12:00:00',
  expire_time: '',
  revoke_time: '',
  last_used_time: '2026-01-31 12:00:00',
  addresses: [],
};

export const SAMPLE_MADE_TOKEN: z.infer<typeof MADE_TOKEN_DATA> = {
  token_id: '7',
  access_token: 'kY0n0hZ4nN0J8x0Q2t3v5w7y9A1C3E5G7I9K1M3O5Q7',
};
