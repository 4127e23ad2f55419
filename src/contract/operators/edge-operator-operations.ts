/** What operators see and do of edges. */
import * as z from 'zod';
import { HEALTH_CHECKS } from '../../model/edge-health.ts';
import { EDGE_ACTIONS, EDGE_STATES } from '../../model/edge-state.ts';
import { FLEET_EVENTS } from '../../model/fleet-event.ts';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { choice, FLAG_TEXT, flag, optional, seconds } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { edgeId, groupName } from './edge-fields.ts';

const LOAD = z
  .object({
    cpu: z.number().describe("share of the machine's processors in use, 0 to 1"),
    mbit: z.number().describe('sent to viewers, megabits a second'),
    requests: z.number().describe('requests of viewers a second'),
    under_way: z.int().describe('requests of viewers that are being served'),
    cache_disk: z.number().describe('share of the file system of the cache in use, 0 to 1'),
  })
  .meta({ id: 'EdgeLoad' });

const CHECK = z
  .object({
    check: z.enum(HEALTH_CHECKS),
    ok: FLAG_TEXT,
    detail: z.string().describe('why not; empty: there is nothing to say'),
  })
  .meta({ id: 'EdgeCheck' });

const CONTROL = z.object({
  control_id: z.string(),
  build: z.string(),
  seen_at: seconds.describe('when it last said that it is there, Unix seconds'),
  leases: z.array(z.string()).describe('work that it alone does: connector:ID, housekeeping, sms-sweep'),
});

const ROW = z.object({
  edge_id: z.string(),
  group: z.string(),
  labels: z.record(z.string(), z.string()),
  status: z.enum(EDGE_STATES),
  reason: z.string().describe('the failed checks of an unhealthy edge, separated by commas; else empty'),
  status_at: seconds.describe('when control first noticed this status, Unix seconds; 0: it has not yet'),
  seen_at: seconds.describe('when it was last heard of, Unix seconds; 0: never'),
  drain_at: seconds.describe('when its drain was ordered, Unix seconds; 0: it is not being drained'),
  drains_itself: FLAG_TEXT.describe('1: the drain was ordered on the edge itself'),
  revision: z.int().describe('revision of the settings that every worker of it runs'),
  lag: z.int().describe('revisions that it is behind'),
  rejected: z.int().describe('settings that it cannot apply, at most 1000'),
  build: z.string().describe('its release; empty: it has not reported yet'),
  features: z.array(z.string()).describe('words for what its release can do'),
  clock_offset_ms: z.int().nullable().describe("how far its clock is ahead of control's; null: unknown"),
  load: LOAD.nullable().describe('null: it has not reported any'),
  health: z.array(CHECK).describe('its own checks'),
});

const EVENT = z.object({
  time: seconds.describe('Unix seconds'),
  edge_id: z.string(),
  event: z.enum(FLEET_EVENTS),
  detail: z.string(),
  actor: z
    .string()
    .describe('`token:` and the id of an access token (0: the command line of control), edge or control'),
});

const EXPOSED = z.object({
  domain_id: z.string(),
  domain_name: z.string(),
  account_id: z.string().describe('account that has the domain'),
  ssl_keys: z.array(z.string()).describe('certificates in use whose private keys the edge has had'),
  live_keys: FLAG_TEXT.describe('1: it has had the keys for publishing and playing live streams'),
});

const EXPOSED_SAMPLE: z.infer<typeof EXPOSED> = {
  domain_id: '1001',
  domain_name: 'www.example.com',
  account_id: '2',
  ssl_keys: ['9f86d081884c7d659a2feaa0c55ad015'],
  live_keys: '0',
};

const ROW_SAMPLE: z.infer<typeof ROW> = {
  edge_id: 'fra1',
  group: 'eu',
  labels: { rack: 'b7' },
  status: 'ready',
  reason: '',
  status_at: 1_769_832_000,
  seen_at: 1_769_835_600,
  drain_at: 0,
  drains_itself: '0',
  revision: 5123,
  lag: 0,
  rejected: 0,
  build: '0.1.0',
  features: ['drain'],
  clock_offset_ms: -12,
  load: { cpu: 0.31, mbit: 812, requests: 5120, under_way: 96, cache_disk: 0.71 },
  health: [{ check: 'disk', ok: '1', detail: '' }],
};

const EVENT_SAMPLE: z.infer<typeof EVENT> = {
  time: 1_769_832_000,
  edge_id: 'fra1',
  event: 'state',
  detail: 'syncing → ready',
  actor: 'control',
};

export const EDGE_OPERATOR_OPERATIONS = {
  'edgeOperator.list': operation({
    summary: { 'zh-CN': '分页查询节点及其状态', en: 'Lists edges with their states, a page at a time, by id' },
    request: request({
      group: optional(groupName),
      status: optional(
        choice(EDGE_STATES, { 'zh-CN': `${EDGE_STATES.join('、')} 之一`, en: `one of ${EDGE_STATES.join(', ')}` }),
      ),
      ...PAGE_FIELDS,
    }),
    data: z.object({ total: z.int().describe('number of edges that match, on all pages'), list: z.array(ROW) }),
    sample: { request: { group: 'eu', page: 1, page_size: 20 }, data: { total: 1, list: [ROW_SAMPLE] } },
  }),
  'edgeOperator.get': operation({
    summary: {
      'zh-CN': '查询节点的状态以及它不能应用的配置',
      en: 'Shows an edge, with the settings that it cannot apply',
    },
    request: request({ edge_id: edgeId }),
    data: z.object({
      ...ROW.shape,
      rejections: z
        .array(z.object({ kind: z.string(), key: z.string(), revision: z.int(), error: z.string() }))
        .describe('the oldest settings that it cannot apply, at most 100'),
    }),
    sample: { request: { edge_id: 'fra1' }, data: { ...ROW_SAMPLE, rejections: [] } },
  }),
  'edgeOperator.setState': operation({
    summary: {
      'zh-CN': '排空节点、恢复节点，或移除节点',
      en: 'Drains an edge, puts it back into service, or removes it',
    },
    request: request({
      edge_id: edgeId,
      action: choice(EDGE_ACTIONS, {
        'zh-CN': 'drain（排空）、undrain（恢复）或 remove（移除）',
        en: 'drain, undrain or remove',
      }),
      force: optional(flag),
    }),
    data: z.object({ status: z.enum(EDGE_STATES).describe('status of the edge now') }),
    sample: { request: { edge_id: 'fra1', action: 'drain' }, data: { status: 'draining' } },
  }),
  'edgeOperator.status': operation({
    summary: { 'zh-CN': '查询节点集群的概况', en: 'Shows how many edges of each group are in which state' },
    request: request({}),
    data: z.object({
      head_revision: z.int().describe('newest revision of the settings'),
      edges: z.array(z.object({ group: z.string(), status: z.enum(EDGE_STATES), count: z.int() })),
      lag_revisions: z.int().describe('revisions that the last of the ready edges is behind'),
      lag_seconds: z.int().describe('age of the oldest change that it has not applied; 0: there is none'),
      controls: z.array(CONTROL).describe('controls on PostgreSQL, seen within the last 15 s; empty on SQLite'),
      synchronous: FLAG_TEXT.nullable().describe('1: a standby confirms commits of PostgreSQL; null: SQLite'),
    }),
    sample: {
      request: {},
      data: {
        head_revision: 5123,
        edges: [{ group: 'eu', status: 'ready', count: 2 }],
        lag_revisions: 0,
        lag_seconds: 0,
        controls: [],
        synchronous: null,
      },
    },
  }),
  'edgeOperator.events': operation({
    summary: {
      'zh-CN': '分页查询节点事件，最新的在前',
      en: 'Lists events of edges of the last 90 days, a page at a time, newest first',
    },
    request: request({ edge_id: optional(edgeId), ...PAGE_FIELDS }),
    data: z.object({ total: z.int(), list: z.array(EVENT) }),
    sample: { request: { edge_id: 'fra1', page: 1 }, data: { total: 1, list: [EVENT_SAMPLE] } },
  }),
  'edgeOperator.exposure': operation({
    summary: {
      'zh-CN': '分页查询节点持有过哪些域名及其密钥',
      en: 'Lists the domains that an edge has had, with their secrets, a page at a time, by id',
    },
    request: request({ edge_id: edgeId, ...PAGE_FIELDS }),
    data: z.object({
      group: z.string(),
      revoked_at: seconds.describe('when it was revoked, Unix seconds; 0: it still gets new secrets'),
      total: z.int().describe('number of domains on all pages'),
      list: z.array(EXPOSED),
    }),
    sample: {
      request: { edge_id: 'fra1', page: 1 },
      data: { group: 'eu', revoked_at: 1_769_832_000, total: 1, list: [EXPOSED_SAMPLE] },
    },
  }),
};
