/** What the `/person/*` operations take and give: what people do of themselves. docs/decisions/0662, 0664 */
import * as z from 'zod';
import { DENSITIES } from '../../model/person.ts';
import { choice, identifier, matching, optional, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import {
  newPasskey,
  newPassword,
  PASSKEY_OPTIONS,
  personName,
  providerFlow,
  providerQuery,
  RECOVERY_CODES,
  SAMPLE_EMAIL,
  SAMPLE_PASSKEY,
  SAMPLE_PASSKEY_REQUEST,
  SAMPLE_PROVIDER_ANSWER,
  SAMPLE_RECOVERY_CODES,
  totpDigits,
} from './person-fields.ts';

const MS = 'Unix milliseconds';
const MAX_LABEL_LENGTH = 64;

const locale = choice(['zh-CN', 'en'], { 'zh-CN': 'zh-CN 或 en', en: 'zh-CN or en' });

const density = choice(DENSITIES, { 'zh-CN': 'normal（标准）或 dense（紧凑）', en: 'normal or dense' });

const timeZone = matching(/^[A-Za-z][\w+-]{0,31}(?:\/[\w+-]{1,31}){0,2}$/, {
  'zh-CN': 'IANA 时区名称，如 Asia/Shanghai',
  en: 'the IANA name of a time zone, such as Asia/Shanghai',
});

const PERSON_DATA = z.object({
  person_id: z.string(),
  email: z.string(),
  name: z.string(),
  locale: z.string().describe('`zh-CN` or `en`; empty: not chosen'),
  time_zone: z.string().describe('IANA name; empty: not chosen'),
  density: z.enum(DENSITIES),
  password_at: z.int().describe(`${MS}: when the password was set; 0: there is none`),
  totp_at: z.int().describe(`${MS}: when TOTP was confirmed; 0: it is off`),
  passkeys: z.int(),
  recovery_codes: z.int().describe('codes that are left'),
  provider_at: z.int().describe(`${MS}: when the identity provider was linked; 0: it is not`),
});

const PASSKEY_ROW = z
  .object({
    passkey_id: z.string(),
    label: z.string(),
    created_at: z.int().describe(MS),
    used_at: z.int().describe(`${MS}; 0: never`),
  })
  .meta({ id: 'PasskeyRow' });

export const PERSON_OPERATIONS = {
  'person.get': operation({
    summary: { 'zh-CN': '查询本人信息', en: 'Shows the person who is signed in' },
    request: request({}),
    data: PERSON_DATA,
    sample: {
      request: {},
      data: {
        person_id: '3',
        email: SAMPLE_EMAIL,
        name: '李雷',
        locale: 'zh-CN',
        time_zone: 'Asia/Shanghai',
        density: 'normal',
        password_at: 1_769_832_000_000,
        totp_at: 1_769_832_000_000,
        passkeys: 1,
        recovery_codes: 10,
        provider_at: 0,
      },
    },
  }),
  'person.set': operation({
    summary: { 'zh-CN': '修改本人信息', en: 'Changes the name, the language and the look of the person' },
    request: request({
      name: optional(personName),
      locale: optional(locale),
      time_zone: optional(timeZone),
      density: optional(density),
    }),
    data: z.boolean(),
    sample: { request: { name: '李雷', time_zone: 'Asia/Shanghai' }, data: true },
  }),
  'person.setPassword': operation({
    summary: {
      'zh-CN': '设置密码，并结束本人的其他会话',
      en: 'Sets the password, and ends the other sessions of the person',
    },
    request: request({ password: newPassword }),
    data: z.boolean(),
    sample: { request: { password: 'correct horse battery staple' }, data: true },
  }),
  'person.beginTotp': operation({
    summary: { 'zh-CN': '生成动态口令的密钥', en: 'Makes the key of TOTP, for an authenticator app' },
    request: request({}),
    data: z.object({
      secret: z.string().describe('Base32; only this answer shows it'),
      url: z.string().describe('otpauth://, for a QR code'),
    }),
    sample: {
      request: {},
      data: {
        secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
        url: 'otpauth://totp/Causeway:li%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Causeway',
      },
    },
  }),
  'person.confirmTotp': operation({
    summary: {
      'zh-CN': '以一个动态口令确认并启用，同时生成恢复码',
      en: 'Turns TOTP on by its first code, and makes recovery codes',
    },
    request: request({ code: totpDigits }),
    data: z.object({ recovery_codes: RECOVERY_CODES }),
    sample: { request: { code: '123456' }, data: { recovery_codes: SAMPLE_RECOVERY_CODES } },
  }),
  'person.removeTotp': operation({
    summary: { 'zh-CN': '停用动态口令', en: 'Turns TOTP off' },
    request: request({}),
    data: z.boolean(),
    sample: { request: {}, data: true },
  }),
  'person.makeRecoveryCodes': operation({
    summary: {
      'zh-CN': '生成新的恢复码，旧的随即失效',
      en: 'Makes new recovery codes; the former ones end',
    },
    request: request({}),
    data: z.object({ recovery_codes: RECOVERY_CODES }),
    sample: { request: {}, data: { recovery_codes: SAMPLE_RECOVERY_CODES } },
  }),
  'person.beginPasskey': operation({
    summary: { 'zh-CN': '取得创建通行密钥所需的参数', en: 'Gives what a browser needs to make a passkey' },
    request: request({}),
    data: z.object({ options: PASSKEY_OPTIONS }),
    sample: { request: {}, data: { options: { ...SAMPLE_PASSKEY_REQUEST, user: { name: SAMPLE_EMAIL } } } },
  }),
  'person.addPasskey': operation({
    summary: { 'zh-CN': '添加通行密钥', en: 'Adds a passkey' },
    request: request({ passkey: newPasskey, label: optional(text({ max: MAX_LABEL_LENGTH })) }),
    data: z.object({ passkey_id: z.string() }),
    sample: { request: { passkey: SAMPLE_PASSKEY, label: 'laptop' }, data: { passkey_id: '4' } },
  }),
  'person.listPasskeys': operation({
    summary: { 'zh-CN': '查询本人的通行密钥', en: 'Lists the passkeys of the person' },
    request: request({}),
    data: z.object({ list: z.array(PASSKEY_ROW) }),
    sample: {
      request: {},
      data: { list: [{ passkey_id: '4', label: 'laptop', created_at: 1_769_832_000_000, used_at: 0 }] },
    },
  }),
  'person.removePasskey': operation({
    summary: { 'zh-CN': '删除通行密钥', en: 'Removes a passkey' },
    request: request({ passkey_id: identifier }),
    data: z.boolean(),
    sample: { request: { passkey_id: '4' }, data: true },
  }),
  'person.linkProvider': operation({
    summary: {
      'zh-CN': '关联身份提供方，之后可通过它登录',
      en: 'Links the identity provider, which from then on signs the person in',
    },
    request: request({ provider_query: providerQuery, provider_flow: providerFlow }),
    data: z.boolean(),
    sample: { request: SAMPLE_PROVIDER_ANSWER, data: true },
  }),
  'person.unlinkProvider': operation({
    summary: { 'zh-CN': '取消关联身份提供方', en: 'Unlinks the identity provider' },
    request: request({}),
    data: z.boolean(),
    sample: { request: {}, data: true },
  }),
};
