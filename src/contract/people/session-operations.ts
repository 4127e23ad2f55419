/** What the `/session/*` operations take and give: signing in and out, the account in view, and sessions. docs/decisions/0662 */
import * as z from 'zod';
import { SIGN_IN_METHODS } from '../../model/session.ts';
import { accessToken, FLAG_TEXT, flag, identifier, integer, optional, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import {
  email,
  PASSKEY_OPTIONS,
  passkeyUse,
  password,
  providerFlow,
  providerQuery,
  recoveryCode,
  SAMPLE_PASSKEY_REQUEST,
  totpDigits,
} from './person-fields.ts';
import { SAMPLE_SESSION, SESSION_DATA } from './session-fields.ts';

const NEXT = z.enum(['done', 'second']).describe('done: signed in; second: a second factor is awaited');
const MAX_REASON_LENGTH = 200;
const MS = 'Unix milliseconds';

const SIGNED_IN = z
  .object({
    next: NEXT,
    failed_before: z
      .int()
      .describe('wrong tries to sign in as this person, from this network, since the last right one'),
  })
  .meta({ id: 'SignedIn' });

const SESSION_ROW = z
  .object({
    session_id: z.string(),
    current: z.enum(['0', '1']).describe('1: the session of this call'),
    method: z.enum(SIGN_IN_METHODS),
    address: z.string().describe('address of the client at sign-in'),
    user_agent: z.string(),
    created_at: z.int().describe(MS),
    seen_at: z.int().describe(`${MS}, to about a minute`),
    expires_at: z.int().describe(MS),
  })
  .meta({ id: 'SessionRow' });

const SAMPLE_ROW: z.infer<typeof SESSION_ROW> = {
  session_id: '12',
  current: '1',
  method: 'passkey',
  address: '192.0.2.10',
  user_agent: 'Mozilla/5.0',
  created_at: 1_769_832_000_000,
  seen_at: 1_769_832_060_000,
  expires_at: 1_769_875_200_000,
};

export const SESSION_OPERATIONS = {
  'session.begin': operation({
    summary: {
      'zh-CN': '登录：以访问令牌、邮箱与密码、通行密钥，或身份提供方的应答换取会话，会话在 Cookie 中返回',
      en: 'Signs in with an access token, an e-mail address and a password, a passkey, or the answer of an identity provider; the cookie of the session comes with the answer',
    },
    request: request(
      {
        access_token: optional(accessToken),
        email: optional(email),
        password: optional(password),
        passkey: optional(passkeyUse),
        provider_query: optional(providerQuery),
        provider_flow: optional(providerFlow),
        keep: optional(flag),
      },
      ({ access_token, email: address, password: secret, passkey, provider_query, provider_flow }) => {
        if (access_token !== undefined || passkey !== undefined) return undefined;
        if (provider_query !== undefined) return provider_flow === undefined ? 'provider_flow' : undefined;
        if (address === undefined) return 'email';
        return secret === undefined ? 'password' : undefined;
      },
    ),
    data: SIGNED_IN,
    sample: {
      request: { email: 'li@example.com', password: 'correct horse battery staple' },
      data: { next: 'second', failed_before: 0 },
    },
  }),
  'session.second': operation({
    summary: {
      'zh-CN': '提交第二因素以完成登录，或再次验证身份以执行敏感操作',
      en: 'Gives the second factor of a sign-in, or proves again who it is before something dangerous',
    },
    request: request(
      {
        code: optional(totpDigits),
        recovery_code: optional(recoveryCode),
        passkey: optional(passkeyUse),
        password: optional(password),
      },
      ({ code, recovery_code, passkey, password: secret }) =>
        [code, recovery_code, passkey, secret].every((one) => one === undefined) ? 'code' : undefined,
    ),
    data: z.boolean(),
    sample: { request: { code: '123456' }, data: true },
  }),
  'session.passkeyChallenge': operation({
    summary: {
      'zh-CN': '取得用于通行密钥的质询',
      en: 'Gives the challenge that a passkey signs',
    },
    request: request({}),
    data: z.object({ options: PASSKEY_OPTIONS }),
    sample: { request: {}, data: { options: SAMPLE_PASSKEY_REQUEST } },
  }),
  'session.methods': operation({
    summary: { 'zh-CN': '查询可用的登录方式', en: 'Shows how people can sign in' },
    request: request({}),
    data: z.object({
      console_url: z.string().describe('address of the console; passkeys work there alone'),
      people: FLAG_TEXT.describe('0: there are no people yet, so that only an access token signs in'),
      provider: z.string().describe('host of the identity provider that people may sign in by; empty: there is none'),
    }),
    sample: {
      request: {},
      data: { console_url: 'https://console.example.com', people: '1', provider: 'login.example.com' },
    },
  }),
  'session.beginProvider': operation({
    summary: {
      'zh-CN': '开始通过身份提供方登录',
      en: 'Begins to sign in by the identity provider',
    },
    request: request({}),
    data: z.object({
      location: z.string().describe('address that the browser goes to'),
      flow: z.string().describe('what the browser keeps for session.begin, for 10 minutes'),
    }),
    sample: {
      request: {},
      data: {
        location: 'https://login.example.com/authorize?client_id=causeway&state=xyz',
        flow: 'v1.0123456789abcdef.AAAA',
      },
    },
  }),
  'session.get': operation({
    summary: {
      'zh-CN': '查询当前会话：登录者、可用账户、当前账户与权限',
      en: 'Shows the session: who is signed in, the accounts, the one in view, and what is allowed there',
    },
    request: request({}),
    data: SESSION_DATA,
    sample: { request: {}, data: SAMPLE_SESSION },
  }),
  'session.use': operation({
    summary: { 'zh-CN': '选择当前账户', en: 'Chooses the account in view' },
    request: request({ account_id: identifier }),
    data: z.boolean(),
    sample: { request: { account_id: '2' }, data: true },
  }),
  'session.look': operation({
    summary: {
      'zh-CN': '以只读方式查看客户账户一小时，客户的操作审计中会留下记录',
      en: "Looks at a customer's account, read only, for an hour; the customer's audit trail tells it",
    },
    request: request({ account_id: identifier, reason: text({ min: 1, max: MAX_REASON_LENGTH }) }),
    data: z.object({ until: z.int().describe(MS) }),
    sample: {
      request: { account_id: '2', reason: 'ticket 4711' },
      data: { until: 1_769_835_600_000 },
    },
  }),
  'session.list': operation({
    summary: { 'zh-CN': '查询登录者的会话', en: 'Lists the sessions of whoever is signed in' },
    request: request({}),
    data: z.object({ list: z.array(SESSION_ROW) }),
    sample: { request: {}, data: { list: [SAMPLE_ROW] } },
  }),
  'session.revoke': operation({
    summary: {
      'zh-CN': '结束登录者的一个会话，或除当前会话外的全部会话',
      en: 'Ends one session of whoever is signed in, or all but the one of the call',
    },
    request: request(
      { session_id: optional(integer(1, Number.MAX_SAFE_INTEGER)), others: optional(flag) },
      ({ session_id, others }) => (session_id === undefined && others !== true ? 'session_id' : undefined),
    ),
    data: z.boolean(),
    sample: { request: { session_id: '13' }, data: true },
  }),
  'session.end': operation({
    summary: { 'zh-CN': '退出登录', en: 'Signs out' },
    request: request({}),
    data: z.boolean(),
    sample: { request: {}, data: true },
  }),
};
