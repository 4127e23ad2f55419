/** What the `/operator/*` operations take and give; those that change something name the account that they act for. */
import * as z from 'zod';
import { DOMAIN_ROW, SAMPLE_ROW } from '../domains/domain-data.ts';
import { DOMAIN_FILTER_FIELDS, PAGE_FIELDS } from '../domains/list-fields.ts';
import { CURRENCY_DATA, SAMPLE_CURRENCY } from '../schema/amount-fields.ts';
import { choice, flag, identifier, optional, text } from '../schema/fields.ts';
import { domainIds } from '../schema/id-lists.ts';
import { operation, request } from '../schema/operation.ts';
import { ACCOUNT_DATA, ACCOUNT_KINDS as KINDS, SAMPLE_ACCOUNT } from './account-data.ts';
import {
  access,
  limit,
  MADE_TOKEN_DATA,
  NEW_TOKEN_FIELDS,
  SAMPLE_MADE_TOKEN,
  SAMPLE_TOKEN,
  scopes,
  TOKEN_DATA,
} from './token-fields.ts';

const MAX_NAME_LENGTH = 64;
const MAX_REASON_LENGTH = 500;

/** What can be narrowed; at least one is given. */
const NARROWED = ['scopes', 'access', 'domain_ids'] as const;

export const OPERATOR_OPERATIONS = {
  'operator.createAccount': operation({
    summary: { 'zh-CN': '创建账户', en: 'Creates an account' },
    request: request({
      name: text({ min: 1, max: MAX_NAME_LENGTH }),
      kind: optional(
        choice(KINDS, { 'zh-CN': 'customer（默认）或 operator', en: 'customer (the default) or operator' }),
      ),
    }),
    data: z.object({ account_id: z.string() }),
    sample: { request: { name: 'Example Media' }, data: { account_id: '2' } },
  }),
  'operator.listAccounts': operation({
    summary: { 'zh-CN': '分页查询账户列表', en: 'Lists accounts, a page at a time' },
    request: request({ ...PAGE_FIELDS, name: optional(text({ max: MAX_NAME_LENGTH })) }),
    data: z.object({ total: z.int(), list: z.array(ACCOUNT_DATA), ...CURRENCY_DATA }),
    sample: {
      request: { page: 1, page_size: 20 },
      data: { total: 1, list: [SAMPLE_ACCOUNT], ...SAMPLE_CURRENCY },
    },
  }),
  'operator.createToken': operation({
    summary: {
      'zh-CN': '为账户创建访问令牌；令牌仅在本次响应中返回',
      en: 'Creates an access token for an account; only this answer shows it',
    },
    request: request({ account_id: identifier, scopes, ...NEW_TOKEN_FIELDS }),
    data: MADE_TOKEN_DATA,
    sample: {
      request: { account_id: '2', scopes: ['cdn'], label: 'deployment', expires_at: 1_893_456_000 },
      data: SAMPLE_MADE_TOKEN,
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
    summary: {
      'zh-CN': '缩小访问令牌的权限',
      en: 'Removes scopes or access from an access token, or limits it to some domains',
    },
    request: request(
      {
        account_id: identifier,
        token_id: identifier,
        scopes: limit(scopes),
        access: limit(access),
        domain_ids: limit(domainIds),
      },
      (given) => (NARROWED.some((name) => given[name] !== undefined) ? undefined : 'scopes'),
    ),
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
  'operator.rejectDomain': operation({
    summary: {
      'zh-CN': '驳回域名，并把原因告知客户',
      en: 'Rejects a domain with a reason that its customer is shown',
    },
    request: request({
      account_id: identifier,
      domain_id: identifier,
      reason: text({ min: 1, max: MAX_REASON_LENGTH }),
    }),
    data: z.boolean(),
    sample: {
      request: { account_id: '2', domain_id: '1001', reason: '备案号与域名不符' },
      data: true,
    },
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
