/** What the `/operator/*` operations take and give; those that change something name the account that they act for. */
import * as z from 'zod';
import { SCOPES } from '../model/account.ts';
import { DOMAIN_ROW, SAMPLE_ROW } from './domain-data.ts';
import { choice, choices, commaList, flag, identifier, integer, MAX_UNIX_SECONDS, optional, text } from './fields.ts';
import { DOMAIN_FILTER_FIELDS, PAGE_FIELDS } from './list-fields.ts';
import { operation, request } from './operation.ts';

const MAX_LABEL_LENGTH = 64;
const MAX_ADDRESSES = 50;
const MAX_ADDRESS_LENGTH = 64;

const KINDS = ['customer', 'operator'] as const;

const scopes = choices(SCOPES, {
  'zh-CN': '权限数组，取自 cdn、sms、operator，至少一个',
  en: 'an array of scopes: at least one of cdn, sms, operator',
});
const label = text({ max: MAX_LABEL_LENGTH });

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
/** An empty list is refused, not read as "any address": the caller may have meant something. */
export const TOKEN_ADDRESSES = { ...ADDRESS_LIST, schema: ADDRESS_LIST.schema.refine((list) => list.length > 0) };

const ACCOUNT_DATA = z.object({
  account_id: z.string(),
  name: z.string(),
  kind: z.enum(KINDS),
  create_time: z.string().describe('YYYY-MM-DD HH:MM:SS'),
});

const TOKEN_DATA = z.object({
  token_id: z.string(),
  label: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  create_time: z.string().describe('YYYY-MM-DD HH:MM:SS'),
  expire_time: z.string().describe('YYYY-MM-DD HH:MM:SS; empty: does not expire'),
  revoke_time: z.string().describe('YYYY-MM-DD HH:MM:SS; empty: not revoked'),
  addresses: z.array(z.string()).describe('addresses and networks that it may be used from; empty: anywhere'),
});

const SAMPLE_ACCOUNT = {
  account_id: '2',
  name: 'Example Media',
  kind: 'customer',
  create_time: '2026-01-31 12:00:00',
} as const;

const SAMPLE_TOKEN: z.infer<typeof TOKEN_DATA> = {
  token_id: '7',
  label: 'deployment',
  scopes: ['cdn'],
  create_time: '2026-01-31 12:00:00',
  expire_time: '',
  revoke_time: '',
  addresses: [],
};

export const OPERATOR_OPERATIONS = {
  'operator.createAccount': operation({
    summary: { 'zh-CN': '创建账户', en: 'Creates an account' },
    request: request({
      name: text({ min: 1, max: MAX_LABEL_LENGTH }),
      kind: optional(
        choice(KINDS, { 'zh-CN': 'customer（默认）或 operator', en: 'customer (the default) or operator' }),
      ),
    }),
    data: z.object({ account_id: z.string() }),
    sample: { request: { name: 'Example Media' }, data: { account_id: '2' } },
  }),
  'operator.listAccounts': operation({
    summary: { 'zh-CN': '分页查询账户列表', en: 'Lists accounts, a page at a time' },
    request: request(PAGE_FIELDS),
    data: z.object({ total: z.int(), list: z.array(ACCOUNT_DATA) }),
    sample: { request: { page: 1, page_size: 20 }, data: { total: 1, list: [SAMPLE_ACCOUNT] } },
  }),
  'operator.createToken': operation({
    summary: {
      'zh-CN': '为账户创建访问令牌；令牌仅在本次响应中返回',
      en: 'Creates an access token for an account; only this answer shows it',
    },
    request: request({
      account_id: identifier,
      scopes,
      label: optional(label),
      expires_at: optional(integer(1, MAX_UNIX_SECONDS)),
      // An empty text is refused: a token that was to be bound would be good from everywhere.
      addresses: { ...TOKEN_ADDRESSES, schema: TOKEN_ADDRESSES.schema.optional() },
    }),
    data: z.object({ token_id: z.string(), access_token: z.string() }),
    sample: {
      request: { account_id: '2', scopes: ['cdn'], label: 'deployment', expires_at: 1_893_456_000 },
      data: { token_id: '7', access_token: 'kY0n0hZ4nN0J8x0Q2t3v5w7y9A1C3E5G7I9K1M3O5Q7' },
    },
  }),
  'operator.listTokens': operation({
    summary: {
      'zh-CN': '查询账户的访问令牌',
      en: 'Lists the access tokens of an account, without the tokens themselves',
    },
    request: request({ account_id: identifier }),
    data: z.object({ list: z.array(TOKEN_DATA) }),
    sample: { request: { account_id: '2' }, data: { list: [SAMPLE_TOKEN] } },
  }),
  'operator.revokeToken': operation({
    summary: { 'zh-CN': '吊销访问令牌', en: 'Revokes an access token for good' },
    request: request({ account_id: identifier, token_id: identifier }),
    data: z.boolean(),
    sample: { request: { account_id: '2', token_id: '7' }, data: true },
  }),
  'operator.narrowToken': operation({
    summary: { 'zh-CN': '缩小访问令牌的权限', en: 'Removes scopes from an access token' },
    request: request({ account_id: identifier, token_id: identifier, scopes }),
    data: z.boolean(),
    sample: { request: { account_id: '2', token_id: '7', scopes: ['cdn'] }, data: true },
  }),
  'operator.listDomains': operation({
    summary: {
      'zh-CN': '分页查询所有账户的域名',
      en: 'Lists the domains of every account, or of one, a page at a time, in the order they were added',
    },
    request: request({
      account_id: optional(identifier),
      ...PAGE_FIELDS,
      ...DOMAIN_FILTER_FIELDS,
      exact: optional(flag),
      pending: optional(flag),
    }),
    data: z.object({
      total: z.int().describe('number of domains that match, on all pages'),
      list: z
        .array(z.object({ account_id: z.string().describe('account that has the domain'), ...DOMAIN_ROW.shape }))
        .describe('the domains of this page'),
    }),
    sample: {
      request: { account_id: '2', name: 'www.example.com', exact: 1 },
      data: { total: 1, list: [{ account_id: '2', ...SAMPLE_ROW }] },
    },
  }),
  'operator.transferDomain': operation({
    summary: { 'zh-CN': '将域名转移到另一客户账户', en: 'Moves a domain to another customer account' },
    request: request({ account_id: identifier, domain_id: identifier, to_account_id: identifier }),
    data: z.boolean(),
    sample: { request: { account_id: '2', domain_id: '1001', to_account_id: '3' }, data: true },
  }),
  'operator.setDomainStatus': operation({
    summary: {
      'zh-CN': '审核、驳回、禁用或恢复域名',
      en: 'Approves or rejects a domain, disables it or enables it again',
    },
    request: request({
      account_id: identifier,
      domain_id: identifier,
      action: choice(['approve', 'reject', 'disable', 'enable'], {
        'zh-CN': 'approve（审核通过）、reject（驳回）、disable（禁用）或 enable（解除禁用）',
        en: 'approve, reject, disable or enable',
      }),
    }),
    data: z.boolean(),
    sample: { request: { account_id: '2', domain_id: '1001', action: 'disable' }, data: true },
  }),
  'operator.rotateKeyring': operation({
    summary: {
      'zh-CN': '向密钥环添加新密钥，并用它重新封装所有密文的数据密钥',
      en: 'Adds a key to the key ring, and seals the data keys of all stored secrets with it',
    },
    request: request({}),
    data: z.object({
      key_id: z.string().describe('the new key'),
      secrets: z.int().describe('number of secrets that are now sealed with it'),
      unopened: z.int().describe('number of secrets that could not be opened, and are unchanged'),
    }),
    sample: { request: {}, data: { key_id: '0123456789abcdef', secrets: 3, unopened: 0 } },
  }),
  'operator.setAccountStatus': operation({
    summary: {
      'zh-CN': '停用或恢复账户；停用账户的令牌被拒绝，其域名继续服务',
      en: 'Disables an account or enables it again: tokens of a disabled account are refused, its domains stay in service',
    },
    request: request({ account_id: identifier, enabled: flag }),
    data: z.boolean(),
    sample: { request: { account_id: '2', enabled: '1' }, data: true },
  }),
};
