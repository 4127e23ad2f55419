/** What the operations of members and invitations take and give, and those of operators on people. docs/decisions/0665 */
import * as z from 'zod';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { FLAG_TEXT, flag, identifier, matching, optional, text } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import {
  email,
  newPasskey,
  newPassword,
  PASSKEY_OPTIONS,
  personName,
  role,
  SAMPLE_EMAIL,
  SAMPLE_PASSKEY_REQUEST,
} from './person-fields.ts';

const MS = 'Unix milliseconds';
const MAX_SEARCH_LENGTH = 254;

const linkSecret = {
  ...matching(/^cwy_[\w-]{43}$/, {
    'zh-CN': '链接中 # 之后的文本',
    en: 'the text behind # in the link',
  }),
  isSecret: true as const,
};

const LINK = {
  link: z.string().describe('good once; only this answer shows it'),
  expires_at: z.int().describe(MS),
};

const MADE_LINK = z.object(LINK).meta({ id: 'MadeLink' });

const SAMPLE_SECRET = 'cwy_kY0n0hZ4nN0J8x0Q2t3v5w7y9A1C3E5G7I9K1M3O5Q7';
const SAMPLE_LINK = {
  link: `http://localhost:8700/console/welcome#${SAMPLE_SECRET}`,
  expires_at: 1_770_091_200_000,
};

const MEMBER_ROW = z
  .object({
    person_id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.string(),
    has_second_factor: FLAG_TEXT,
    disabled: FLAG_TEXT.describe('whether an operator keeps the person from signing in'),
    created_at: z.int().describe(`${MS}: member since`),
    seen_at: z.int().describe(`${MS}: last seen in a session that is kept; 0: in none`),
  })
  .meta({ id: 'MemberRow' });

const INVITATION_ROW = z
  .object({
    invitation_id: z.string(),
    email: z.string(),
    role: z.string(),
    invited_by: z.string().describe('`person:` or `token:` and its id'),
    created_at: z.int().describe(MS),
    expires_at: z.int().describe(MS),
  })
  .meta({ id: 'InvitationRow' });

const PERSON_ROW = z
  .object({
    person_id: z.string(),
    email: z.string(),
    name: z.string(),
    disabled: FLAG_TEXT,
    has_second_factor: FLAG_TEXT,
    created_at: z.int().describe(MS),
    seen_at: z.int().describe(`${MS}: last seen in a session that is kept; 0: in none`),
    memberships: z.array(z.object({ account_id: z.string(), role: z.string() }).meta({ id: 'PersonMembership' })),
  })
  .meta({ id: 'PersonRow' });

const SAMPLE_PERSON = {
  person_id: '3',
  email: SAMPLE_EMAIL,
  name: '李雷',
  has_second_factor: '1',
  disabled: '0',
  created_at: 1_769_832_000_000,
  seen_at: 1_769_832_060_000,
} as const;

export const MEMBER_OPERATIONS = {
  'member.list': operation({
    summary: { 'zh-CN': '查询账户的成员与邀请', en: "Lists the account's members and invitations" },
    request: request({}),
    data: z.object({
      list: z.array(MEMBER_ROW),
      invitations: z.array(INVITATION_ROW),
      second_factor: FLAG_TEXT.describe('whether members need a second factor'),
    }),
    sample: {
      request: {},
      data: {
        list: [{ ...SAMPLE_PERSON, role: 'owner' }],
        invitations: [
          {
            invitation_id: '5',
            email: 'han@example.com',
            role: 'viewer',
            invited_by: 'person:3',
            created_at: 1_769_832_000_000,
            expires_at: SAMPLE_LINK.expires_at,
          },
        ],
        second_factor: '0',
      },
    },
  }),
  'member.invite': operation({
    summary: {
      'zh-CN': '邀请某人成为账户成员；链接仅在本次响应中返回',
      en: 'Invites somebody to become a member of the account; only this answer shows the link',
    },
    request: request({ email, role }),
    data: z.object({ invitation_id: z.string(), ...LINK }),
    sample: {
      request: { email: 'han@example.com', role: 'viewer' },
      data: { invitation_id: '5', ...SAMPLE_LINK },
    },
  }),
  'member.setRole': operation({
    summary: { 'zh-CN': '修改成员的角色', en: 'Changes the role of a member' },
    request: request({ person_id: identifier, role }),
    data: z.boolean(),
    sample: { request: { person_id: '3', role: 'editor' }, data: true },
  }),
  'member.remove': operation({
    summary: { 'zh-CN': '移除成员，或撤回邀请', en: 'Removes a member, or withdraws an invitation' },
    request: request(
      { person_id: optional(identifier), invitation_id: optional(identifier) },
      ({ person_id, invitation_id }) =>
        person_id === undefined && invitation_id === undefined ? 'person_id' : undefined,
    ),
    data: z.boolean(),
    sample: { request: { person_id: '3' }, data: true },
  }),
  'member.resetPassword': operation({
    summary: {
      'zh-CN': '为只属于本账户的成员生成设置新密码的链接；链接仅在本次响应中返回',
      en: 'Makes a link with which a member of no other account sets a new password; only this answer shows it',
    },
    request: request({ person_id: identifier }),
    data: MADE_LINK,
    sample: { request: { person_id: '3' }, data: SAMPLE_LINK },
  }),
  'member.setSecondFactor': operation({
    summary: {
      'zh-CN': '设置成员是否必须使用第二因素',
      en: 'Sets whether members need a second factor',
    },
    request: request({ required: flag }),
    data: z.boolean(),
    sample: { request: { required: 0 }, data: true },
  }),

  'invitation.get': operation({
    summary: { 'zh-CN': '查询链接的用途', en: 'Shows what a link is for' },
    request: request({ secret: linkSecret }),
    data: z.object({
      kind: z.enum(['member', 'password']).describe('member: to become one; password: to set a new one'),
      email: z.string(),
      account_name: z.string().describe('empty for a password'),
      role: z.string().describe('empty for a password'),
      is_known: FLAG_TEXT.describe('1: the person signs in, and then accepts; 0: a name and a password are needed'),
      expires_at: z.int().describe(MS),
    }),
    sample: {
      request: { secret: SAMPLE_SECRET },
      data: {
        kind: 'member',
        email: 'han@example.com',
        account_name: 'Example',
        role: 'viewer',
        is_known: '0',
        expires_at: SAMPLE_LINK.expires_at,
      },
    },
  }),
  'invitation.beginPasskey': operation({
    summary: {
      'zh-CN': '取得以通行密钥接受邀请所需的参数',
      en: 'Gives what a browser needs to make the passkey of somebody who is invited',
    },
    request: request({ secret: linkSecret }),
    data: z.object({ options: PASSKEY_OPTIONS }),
    sample: {
      request: { secret: SAMPLE_SECRET },
      data: { options: { ...SAMPLE_PASSKEY_REQUEST, user: { name: 'han@example.com' } } },
    },
  }),
  'invitation.accept': operation({
    summary: {
      'zh-CN': '接受邀请，或设置新密码；链接只能使用一次',
      en: 'Accepts an invitation, or sets the new password; the link is good once',
    },
    request: request({
      secret: linkSecret,
      name: optional(personName),
      password: optional(newPassword),
      passkey: optional(newPasskey),
    }),
    data: z.object({ next: z.enum(['done', 'signIn']).describe('done: signed in; signIn: sign in now') }),
    sample: {
      request: { secret: SAMPLE_SECRET, name: '韩梅梅', password: 'correct horse battery staple' },
      data: { next: 'done' },
    },
  }),
};

export const PEOPLE_OPERATOR_OPERATIONS = {
  'operator.createPerson': operation({
    summary: {
      'zh-CN': '创建人员并使其成为账户成员；设置密码的链接仅在本次响应中返回',
      en: 'Creates a person as a member of an account; only this answer shows the link for the password',
    },
    request: request({ email, name: optional(personName), account_id: identifier, role }),
    data: z.object({ person_id: z.string(), ...LINK }),
    sample: {
      request: { email: 'han@example.com', name: '韩梅梅', account_id: '2', role: 'owner' },
      data: { person_id: '4', ...SAMPLE_LINK },
    },
  }),
  'operator.resetPerson': operation({
    summary: {
      'zh-CN': '生成设置新密码的链接，可同时移除第二因素；链接仅在本次响应中返回',
      en: 'Makes a link for a new password, which may remove second factors too; only this answer shows it',
    },
    request: request({ person_id: identifier, second_factor: optional(flag) }),
    data: MADE_LINK,
    sample: { request: { person_id: '3', second_factor: '0' }, data: SAMPLE_LINK },
  }),
  'operator.listPersons': operation({
    summary: { 'zh-CN': '查询所有人员', en: 'Lists all people' },
    request: request({ ...PAGE_FIELDS, text: optional(text({ max: MAX_SEARCH_LENGTH })) }),
    data: z.object({ total: z.int(), list: z.array(PERSON_ROW) }),
    sample: {
      request: { text: 'example.com' },
      data: { total: 1, list: [{ ...SAMPLE_PERSON, memberships: [{ account_id: '2', role: 'owner' }] }] },
    },
  }),
  'operator.setPersonStatus': operation({
    summary: {
      'zh-CN': '停用人员并结束其会话，或恢复',
      en: 'Keeps a person from signing in and ends the sessions, or allows it again',
    },
    request: request({ person_id: identifier, enabled: flag }),
    data: z.boolean(),
    sample: { request: { person_id: '3', enabled: '0' }, data: true },
  }),
};
