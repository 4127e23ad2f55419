/** Events: what happened that somebody may have to act upon, and the webhooks that they are posted to. */
import * as z from 'zod';
import { EVENT_KIND_NAMES, type EventKind, SEVERITIES, TARGET_KINDS } from '../../model/event.ts';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { choice, choices, identifier, optional, optionalHttpUrl, seconds } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';

// `as`: a list with at least one name.
const KINDS = EVENT_KIND_NAMES as readonly [EventKind, ...EventKind[]];

const FILTER = {
  kinds: optional(
    choices(KINDS, {
      'zh-CN': '事件类型的列表，如 ["origin.down", "certificate.expiring"]，至多 20 个',
      en: 'a list of 1 to 20 kinds of events, such as ["origin.down", "certificate.expiring"]',
    }),
  ),
  severity: optional(
    choice(SEVERITIES, {
      'zh-CN': 'info（信息）、warning（警告）或 critical（严重）',
      en: 'info, warning or critical',
    }),
  ),
};

const TARGET = z.object({ kind: z.enum(TARGET_KINDS), id: z.string(), name: z.string() }).meta({ id: 'EventTarget' });

const EVENT = z
  .object({
    event_id: z.string().describe('grows with each event'),
    time: seconds.describe('Unix seconds'),
    kind: z.enum(KINDS),
    severity: z.enum(SEVERITIES),
    account_id: z.string().describe("whose it is; empty: the operator's"),
    target: TARGET.describe('what it is about'),
    actor: z
      .string()
      .describe('`token:` and the id of an access token (0: the command line of control), edge or control'),
    data: z.record(z.string(), z.union([z.string(), z.number()])).describe('details, by kind: see docs/monitoring.md'),
    text: z.string().describe('the event in words, in the language of the request'),
  })
  .meta({ id: 'Event' });

const EVENT_SAMPLE = {
  event_id: '71',
  time: 1_769_832_000,
  kind: 'origin.down',
  severity: 'warning',
  account_id: '2',
  target: { kind: 'domain', id: '16666', name: 'www.example.com' },
  actor: 'control',
  data: { origin: 'origin.example.com:443', state: 'down', edges: 2, edge: 'fra1' },
  text: 'the origin origin.example.com:443 of www.example.com is down (edges: 2, such as fra1)',
} as const;

const LIST = z.object({ total: z.int(), list: z.array(EVENT) }).meta({ id: 'EventList' });
const LIST_SAMPLE = { total: 1, list: [EVENT_SAMPLE] };

const WEBHOOK = z
  .object({
    url: z.string().describe('empty: there is none'),
    secret: z.string().describe('signs what is posted; empty: there is none, or it is locked'),
  })
  .meta({ id: 'EventWebhook' });
const WEBHOOK_SAMPLE = { url: 'https://ops.example/hook', secret: 'b7c1…' };

const WEBHOOK_REQUEST = request({
  url: optionalHttpUrl,
  rotate: optional(
    choice(['0', '1'], {
      'zh-CN': '1（更换签名密钥）或 0（保留）',
      en: '1 for a new secret, 0 to keep the stored one',
    }),
  ),
});

export const EVENT_OPERATIONS = {
  'event.list': operation({
    summary: {
      'zh-CN': '分页查询本账户最近 90 天的事件，最新的在前',
      en: "Lists the account's events of the last 90 days, a page at a time, newest first",
    },
    request: request({ ...FILTER, ...PAGE_FIELDS }),
    data: LIST,
    sample: { request: { kinds: ['origin.down', 'origin.up'], page: 1 }, data: LIST_SAMPLE },
  }),
  'event.getWebhook': operation({
    summary: { 'zh-CN': '查询事件的推送地址', en: "Shows the webhook for the account's events" },
    request: request({}),
    data: WEBHOOK,
    sample: { request: {}, data: WEBHOOK_SAMPLE },
  }),
  'event.setWebhook': operation({
    summary: { 'zh-CN': '设置事件的推送地址', en: "Sets the webhook for the account's events" },
    request: WEBHOOK_REQUEST,
    data: WEBHOOK,
    sample: { request: { url: 'https://ops.example/hook' }, data: WEBHOOK_SAMPLE },
  }),
  'eventOperator.list': operation({
    summary: {
      'zh-CN': '分页查询所有账户及本服务最近 90 天的事件，最新的在前',
      en: 'Lists events of the service and of all accounts of the last 90 days, a page at a time, newest first',
    },
    request: request({ ...FILTER, account_id: optional(identifier), ...PAGE_FIELDS }),
    data: LIST,
    sample: { request: { severity: 'warning' }, data: LIST_SAMPLE },
  }),
  'eventOperator.getWebhook': operation({
    summary: { 'zh-CN': '查询运营方的事件推送地址', en: 'Shows the webhook for all events' },
    request: request({}),
    data: WEBHOOK,
    sample: { request: {}, data: WEBHOOK_SAMPLE },
  }),
  'eventOperator.setWebhook': operation({
    summary: { 'zh-CN': '设置运营方的事件推送地址', en: 'Sets the webhook for all events' },
    request: WEBHOOK_REQUEST,
    data: WEBHOOK,
    sample: { request: { url: 'https://ops.example/hook' }, data: WEBHOOK_SAMPLE },
  }),
};
