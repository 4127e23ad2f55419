/** What the operations of the audit trail take and give. docs/decisions/0623 */
import * as z from 'zod';
import { AUDIT_TARGET_KINDS } from '../../model/audit.ts';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { choice, type Fields, identifier, integer, matching, optional, text, unixTime } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';

const MAX_EVENT_ID = Number.MAX_SAFE_INTEGER;
const MAX_TARGET_LENGTH = 255;

const eventId = integer(1, MAX_EVENT_ID);

const NAMED_KINDS = AUDIT_TARGET_KINDS.filter((kind) => kind !== '') as [string, ...string[]]; // there are some

const FILTER = {
  token_id: optional(identifier),
  operation: optional(
    matching(/^[a-zA-Z]{1,32}\.[a-zA-Z]{1,32}$/, {
      'zh-CN': '操作的名称，如 config.setAdvanced',
      en: 'the name of an operation, such as config.setAdvanced',
    }),
  ),
  target_kind: optional(choice(NAMED_KINDS, { 'zh-CN': NAMED_KINDS.join('、'), en: NAMED_KINDS.join(', ') })),
  target_id: optional(text({ max: MAX_TARGET_LENGTH })),
  starttime: optional(unixTime),
  endtime: optional(unixTime),
  before: optional(eventId),
  page_size: PAGE_FIELDS.page_size,
};

export const AUDIT_ACTOR = {
  actor: z
    .enum(['token', 'person', 'local', 'operator', 'service'])
    .describe(
      "token: its holder; person: who is signed in; local: a command on control's machine; operator: what customers see of operators; service: the service by itself",
    ),
  actor_name: z
    .string()
    .describe(
      'label of the token; name of the person; user of the machine, as the command says it, unverified; part of the service',
    ),
  token_id: z.string().describe('the token; empty: none, or one of an operator'),
  person_id: z.string().describe('the person; empty: none, or one of an operator'),
  session_id: z.string().describe('the session of the call; empty: none, or one of an operator'),
  address: z.string().describe("address of the client; empty: the service's own act, or an operator's"),
};

const ROW = {
  event_id: z.string().describe('id of the event'),
  at: z.int().describe('when it was made, Unix milliseconds'),
  ...AUDIT_ACTOR,
  operation: z.string().describe('name of the operation, such as config.setAdvanced'),
  target_kind: z.enum(AUDIT_TARGET_KINDS).describe('kind of what was changed'),
  target_id: z.string(),
  target_name: z.string().describe('its name, if that is not the id; may be empty'),
  revision: z.string().describe("revision of a domain's settings that the change has made; empty: none"),
  request_id: z.string().describe('`x-request-id` of the call; empty: none'),
};

const VALUES = z.record(z.string(), z.unknown());

const EVENT = z
  .object({
    ...ROW,
    before: VALUES.describe('what differs, before the change'),
    after: VALUES.describe(
      'what differs, after the change; a secret is `{"changed":true}`, of long values only the beginning is kept',
    ),
  })
  .meta({ id: 'AuditEvent' });

const PAGE = z
  .object({
    list: z.array(
      z.object({ ...ROW, changed: z.array(z.string()).describe('names of what differs') }).meta({ id: 'AuditRow' }),
    ),
    next: z.string().describe('give it as `before` for what comes next; empty: there is no more'),
  })
  .meta({ id: 'AuditPage' });

export const SAMPLE_ACTOR = {
  actor: 'token',
  actor_name: 'deploy',
  token_id: '7',
  person_id: '',
  session_id: '',
  address: '192.0.2.10',
  operation: 'config.setAdvanced',
  event_id: '4711',
} as const;

const SAMPLE_ROW = {
  ...SAMPLE_ACTOR,
  at: 1_769_832_000_123,
  target_kind: 'domain',
  target_id: '1001',
  target_name: 'www.example.com',
  revision: '18',
  request_id: '01890a5d-ac96-774b-bcce-b302099a8057',
} as const;

const SAMPLE_EVENT = {
  ...SAMPLE_ROW,
  before: { 'advanced.expires': '0' },
  after: { 'advanced.expires': '60' },
};
const SAMPLE_LIST = { list: [{ ...SAMPLE_ROW, changed: ['advanced.expires'] }], next: '' };

const OWNER = { 'zh-CN': '本账户的', en: 'in the account' };
const ANY = { 'zh-CN': '所有账户的', en: 'of all accounts, and of what only operators own' };

export const AUDIT_OPERATIONS = {
  'audit.list': lists(OWNER, FILTER, { target_kind: 'domain', target_id: '1001', page_size: 20 }),
  'audit.get': gets(OWNER),
  'auditOperator.list': lists(
    ANY,
    { account_id: optional(identifier), ...FILTER },
    { account_id: '2', target_kind: 'domain', target_id: '1001' },
  ),
  'auditOperator.get': gets(ANY),
};

function lists<F extends Fields>(whose: typeof OWNER, fields: F, sample: Readonly<Record<string, string | number>>) {
  return {
    summary: { 'zh-CN': `查询${whose['zh-CN']}操作审计，最新的在前`, en: `Lists changes ${whose.en}, newest first` },
    request: request(fields),
    data: PAGE,
    sample: { request: sample, data: SAMPLE_LIST },
  };
}

function gets(whose: typeof OWNER) {
  return operation({
    summary: { 'zh-CN': `查询${whose['zh-CN']}一条操作审计`, en: `Shows one of the changes ${whose.en}` },
    request: request({ event_id: eventId }),
    data: EVENT,
    sample: { request: { event_id: '4711' }, data: SAMPLE_EVENT },
  });
}
