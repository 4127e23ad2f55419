/** Fields of people: addresses, what they prove, and roles. docs/decisions/0662, 0664 */
import * as z from 'zod';
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from '../../model/password-rules.ts';
import { ROLES } from '../../model/person.ts';
import { choice, type Field, matching, text } from '../schema/fields.ts';

const MAX_NAME_LENGTH = 64;
const MAX_PASSKEY_TEXT = 16_384;

export const email = matching(/^(?=.{3,254}$)[^\s@"<>\p{C}]{1,64}@[^\s@"<>\p{C}]{1,190}$/u, {
  'zh-CN': '邮箱地址，如 li@example.com，至多 254 个字符',
  en: 'an e-mail address such as li@example.com, of at most 254 characters',
});

export const personName = text({ max: MAX_NAME_LENGTH });

/** One that is there: whatever rules there were when it was set. */
export const password = {
  ...text({ min: 1, max: MAX_PASSWORD_CHARS }),
  kind: 'secret',
  isSecret: true,
} satisfies Field;

export const newPassword = {
  ...text({ min: 1, max: MAX_PASSWORD_CHARS }),
  kind: 'secret',
  expects: {
    'zh-CN': `${MIN_PASSWORD_CHARS} 到 ${MAX_PASSWORD_CHARS} 个字符的密码，不能由常用词、连续字符或本人信息组成`,
    en: `a password of ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters that is not made of common words, runs or your own names`,
  },
  isSecret: true,
} satisfies Field;

export const totpDigits = {
  ...matching(/^\d{6}$/, { 'zh-CN': '验证器应用显示的 6 位数字', en: 'the 6 digits that the authenticator app shows' }),
  isSecret: true,
} satisfies Field;

export const recoveryCode = {
  ...matching(/^(?:[a-zA-Z2-7]{4}-?){4}$/, {
    'zh-CN': '恢复码，形如 abcd-efgh-ijkl-mnop',
    en: 'a recovery code such as abcd-efgh-ijkl-mnop',
  }),
  isSecret: true,
} satisfies Field;

export const role = choice(ROLES, {
  'zh-CN': '角色：客户账户为 viewer、editor、billing、owner，运营者账户为 viewer、operator、admin',
  en: 'a role: viewer, editor, billing or owner in the account of a customer, viewer, operator or admin in one of operators',
});

/** What the browser's WebAuthn interface returns, as its `toJSON` has it. */
const CREDENTIAL = z
  .looseObject({
    id: z.string().max(2048),
    rawId: z.string().max(2048),
    type: z.literal('public-key'),
    response: z.looseObject({ clientDataJSON: z.string() }),
  })
  .refine((credential) => JSON.stringify(credential).length <= MAX_PASSKEY_TEXT);

const CREDENTIAL_JSON = {
  type: 'object',
  required: ['id', 'rawId', 'type', 'response'],
  properties: {
    id: { type: 'string' },
    rawId: { type: 'string' },
    type: { const: 'public-key' },
    response: { type: 'object' },
  },
};

export const passkeyUse = {
  schema: CREDENTIAL,
  kind: 'secret',
  expects: {
    'zh-CN': '浏览器 navigator.credentials.get() 的结果（JSON 对象）',
    en: 'the result of navigator.credentials.get(), as a JSON object',
  },
  json: CREDENTIAL_JSON,
  isSecret: true,
} satisfies Field;

export const newPasskey = {
  ...passkeyUse,
  expects: {
    'zh-CN': '浏览器 navigator.credentials.create() 的结果（JSON 对象）',
    en: 'the result of navigator.credentials.create(), as a JSON object',
  },
} satisfies Field;

const MAX_PROVIDER_TEXT = 8192;

/** What an identity provider has sent the browser back with. */
export const providerQuery = {
  ...text({ min: 1, max: MAX_PROVIDER_TEXT }),
  expects: {
    'zh-CN': '身份提供方返回控制台时地址中的查询部分',
    en: 'the query of the address to which the identity provider sent the browser back',
  },
  isSecret: true,
} satisfies Field;

export const providerFlow = {
  ...text({ min: 1, max: MAX_PROVIDER_TEXT }),
  expects: { 'zh-CN': 'session.beginProvider 返回的 flow', en: 'flow, as session.beginProvider answered it' },
  isSecret: true,
} satisfies Field;

export const SAMPLE_PROVIDER_ANSWER = {
  provider_query: '?code=abc&state=xyz',
  provider_flow: 'v1.0123456789abcdef.AAAA',
};

/** What the browser's WebAuthn interface takes, as JSON. */
export const PASSKEY_OPTIONS = z.record(z.string(), z.unknown());

export const SAMPLE_PASSKEY_REQUEST = {
  challenge: 'AAABlV0xkQA3b1kz',
  rpId: 'console.example.com',
  timeout: 300_000,
  userVerification: 'required',
};

export const SAMPLE_PASSKEY = {
  id: 'aW0gYSBwYXNza2V5',
  rawId: 'aW0gYSBwYXNza2V5',
  type: 'public-key' as const,
  response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
};

export const SAMPLE_EMAIL = 'li@example.com';

export const RECOVERY_CODES = z.array(z.string()).describe('good once each; only this answer shows them');

export const SAMPLE_RECOVERY_CODES = ['abcd-efgh-ijkl-mnop', 'qrst-uvwx-yz23-4567'];
