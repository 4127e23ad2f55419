/** The answer of `session.get`: the person, the account in view, and the rights there. docs/decisions/0662 */
import * as z from 'zod';
import { ACCESS, SCOPES } from '../../model/account.ts';
import { SIGN_IN_METHODS } from '../../model/session.ts';
import { FLAG_TEXT } from '../schema/fields.ts';

/** The cookie of a session. Its prefix binds it to this host, to TLS (or this machine) and to all paths. */
export const SESSION_COOKIE = '__Host-causeway';

const MS = 'Unix milliseconds';

const SESSION_PERSON = z
  .object({
    person_id: z.string(),
    email: z.string(),
    name: z.string(),
    locale: z.string().describe('`zh-CN` or `en`; empty: not chosen'),
    time_zone: z.string().describe('IANA name; empty: not chosen'),
    density: z.string().describe('`normal` or `dense`'),
    has_second_factor: FLAG_TEXT.describe('whether there is a second factor: TOTP or a passkey'),
  })
  .meta({ id: 'SessionPerson' });

const SESSION_ACCOUNT = z
  .object({
    account_id: z.string(),
    name: z.string(),
    kind: z.enum(['customer', 'operator']),
    role: z.string().describe('role of the person; empty: the session acts for a token'),
    second_factor: FLAG_TEXT.describe('whether the account asks for a second factor'),
    disabled: FLAG_TEXT,
  })
  .meta({ id: 'SessionAccount' });

export const SESSION_DATA = z.object({
  session_id: z.string(),
  method: z.enum(SIGN_IN_METHODS).describe('how the session began'),
  person: SESSION_PERSON.nullable().describe('who is signed in; null: the session acts for a token'),
  token: z
    .object({ token_id: z.string(), label: z.string() })
    .meta({ id: 'SessionToken' })
    .nullable()
    .describe('the token that the session acts for; null: a person is signed in'),
  accounts: z.array(SESSION_ACCOUNT),
  account_id: z.string().describe('the account in view; empty: none'),
  scopes: z.array(z.enum(SCOPES)).describe('operations that there are for the account in view'),
  access: z.array(z.enum(ACCESS)).describe('what the session may do there'),
  look: z
    .object({ account_id: z.string(), account_name: z.string(), reason: z.string(), until: z.int().describe(MS) })
    .meta({ id: 'SessionLook' })
    .nullable()
    .describe('the customer whose account an operator looks at, which is read only'),
  created_at: z.int().describe(MS),
  expires_at: z.int().describe(`${MS}; it ends earlier without calls`),
  strong_until: z.int().describe(`${MS}: until then acts that ask for a recent proof are allowed; 0: they are not`),
  time_zone: z.string().describe('time zone of the service, IANA name'),
  features: z
    .object({ acme: FLAG_TEXT, sms: FLAG_TEXT, review: FLAG_TEXT, live: FLAG_TEXT })
    .meta({ id: 'SessionFeatures' })
    .describe('parts of the service that run here'),
});

export const SAMPLE_SESSION: z.infer<typeof SESSION_DATA> = {
  session_id: '12',
  method: 'passkey',
  person: {
    person_id: '3',
    email: 'li@example.com',
    name: '李雷',
    locale: 'zh-CN',
    time_zone: 'Asia/Shanghai',
    density: 'normal',
    has_second_factor: '1',
  },
  token: null,
  accounts: [{ account_id: '2', name: 'Example', kind: 'customer', role: 'owner', second_factor: '0', disabled: '0' }],
  account_id: '2',
  scopes: ['cdn', 'sms'],
  access: ['read', 'write', 'manage', 'money'],
  look: null,
  created_at: 1_769_832_000_000,
  expires_at: 1_769_875_200_000,
  strong_until: 1_769_832_900_000,
  time_zone: 'Asia/Shanghai',
  features: { acme: '1', sms: '1', review: '0', live: '1' },
};
