/** What the operations of the audit trail take and give. docs/decisions/0623 */
import * as z from 'zod';
import { AUDIT_TARGET_KINDS } from '../../model/audit.ts';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { choice, identifier, integer, matching, optional, text, unixTime } from '../schema/fields.ts';
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

/** What the list and a single event have, of rows with these members. `id`: begin of the names of their schemas. */
function dataOf<R extends z.core.$ZodLooseShape>(id: string, row: R) {
  const rowData = z.object({ ...row, changed: z.array(z.string()).describe('names of what differs') });
  const eventData = z.object({
    ...row,
    before: VALUES.describe('what differs, before the change'),
    after: VALUES.describe(
      'what differs, after the change; a secret is `{"changed":true}`, of long values only the beginning is kept',
    ),
  });
  const page = z.object({
    list: z.array(rowData.meta({ id: `${id}Row` })),
    next: z.string().describe('give it as `before` for what comes next; empty: there is no more'),
  });
  return { page: page.meta({ id: `${id}Page` }), event: eventData.meta({ id: `${id}Event` }) };
}

const OWN_DATA = dataOf('Audit', ROW);
const ANY_DATA = dataOf('OperatorAudit', {
  account_id: z.string().describe('the account that owns what was changed; empty: only operators do'),
  ...ROW,
});

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
const SAMPLE_LISTED = { ...SAMPLE_ROW, changed: ['advanced.expires'] };
const SAMPLE_OWNER = { account_id: '2' };

const ONE = request({ event_id: eventId });
const SAMPLE_ONE = { event_id: '4711' };

export const AUDIT_OPERATIONS = {
  'audit.list': operation({
    summary: { 'zh-CN': '查询本账户的操作审计，最新的在前', en: 'Lists changes in the account, newest first' },
    request: request(FILTER),
    data: OWN_DATA.page,
    sample: {
      request: { target_kind: 'domain', target_id: '1001', page_size: 20 },
      data: { list: [SAMPLE_LISTED], next: '' },
    },
  }),
  'audit.get': operation({
    summary: { 'zh-CN': '查询本账户的一条操作审计', en: 'Shows one of the changes in the account' },
    request: ONE,
    data: OWN_DATA.event,
    sample: { request: SAMPLE_ONE, data: SAMPLE_EVENT },
  }),
  'auditOperator.list': operation({
    summary: {
      'zh-CN': '查询所有账户的操作审计，最新的在前',
      en: 'Lists changes of all accounts, and of what only operators own, newest first',
    },
    request: request({ account_id: optional(identifier), ...FILTER }),
    data: ANY_DATA.page,
    sample: {
      request: { account_id: '2', target_kind: 'domain', target_id: '1001' },
      data: { list: [{ ...SAMPLE_OWNER, ...SAMPLE_LISTED }], next: '' },
    },
  }),
  'auditOperator.get': operation({
    summary: {
      'zh-CN': '查询所有账户的一条操作审计',
      en: 'Shows one of the changes of all accounts, and of what only operators own',
    },
    request: ONE,
    data: ANY_DATA.event,
    sample: { request: SAMPLE_ONE, data: { ...SAMPLE_OWNER, ...SAMPLE_EVENT } },
  }),
};
