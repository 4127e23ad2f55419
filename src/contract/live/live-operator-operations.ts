/** What operators see and do of live streams. */
import * as z from 'zod';
import { LIVE_KEY } from '../../model/limits.ts';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { choice, identifier, integer, MAX_UNIX_SECONDS, matching, optional } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import {
  appName,
  BROADCAST_DATA,
  BROADCAST_FILTER,
  liveState,
  STREAM_ROW,
  STREAM_ROW_SAMPLE,
  streamName,
} from './live-fields.ts';

const STREAM = { account_id: identifier, domain_id: identifier, app_name: appName, stream_name: streamName };
const STREAM_SAMPLE = { account_id: '2', domain_id: '1001', app_name: 'live', stream_name: 'news' } as const;

const KEYS = z
  .object({
    publish: z
      .array(z.string())
      .describe('the primary key, then the secondary one; none: nobody can publish where a key is required'),
    play: z.array(z.string()).describe('the same for playing; none: playing needs no key'),
  })
  .meta({ id: 'LiveKeys' });

const KEYS_SAMPLE = { publish: ['Hq3vN8xW2kLm5tRz7pYc'], play: [] };

const givenKey = {
  ...matching(LIVE_KEY, { 'zh-CN': '16 到 64 个字母和数字', en: '16 to 64 letters and digits' }),
  isSecret: true as const,
};

const ROW = z.object({
  account_id: z.string(),
  ...STREAM_ROW,
  broadcast: z.string().describe('id of the latest broadcast; empty: it was never on air'),
  edge: z.string().describe('machine of the live process that has or had it'),
});

const BROADCAST = z.object({
  ...BROADCAST_DATA,
  broadcast: z.string(),
  edge: z.string(),
  address: z.string().describe('of the publisher or the origin'),
});

export const LIVE_OPERATOR_OPERATIONS = {
  'liveOperator.list': operation({
    summary: {
      'zh-CN': '分页查询所有或某个域名的直播流及其详情',
      en: 'Lists live streams with details, of every domain or of one, a page at a time',
    },
    request: request({
      account_id: optional(identifier),
      domain_id: optional(identifier),
      app_name: optional(appName),
      stream_name: optional(streamName),
      status: optional(liveState),
      ...PAGE_FIELDS,
    }),
    data: z.object({ total: z.int().describe('number of streams that match, on all pages'), list: z.array(ROW) }),
    sample: {
      request: { status: 'ONGOING', page: 1, page_size: 20 },
      data: {
        total: 1,
        list: [{ account_id: '2', ...STREAM_ROW_SAMPLE, broadcast: 'k3v9', edge: 'local' }],
      },
    },
  }),
  'liveOperator.forbid': operation({
    summary: {
      'zh-CN': '禁播直播流，可指定自动恢复时间',
      en: 'Forbids a stream, also one that was never on air, for good or until a time',
    },
    request: request({ ...STREAM, resume_at: optional(integer(1, MAX_UNIX_SECONDS)) }),
    data: z.boolean(),
    sample: { request: { ...STREAM_SAMPLE, resume_at: 1_893_456_000 }, data: true },
  }),
  'liveOperator.resume': operation({
    summary: { 'zh-CN': '恢复被禁播的直播流', en: 'Resumes a forbidden stream: it may be published again' },
    request: request(STREAM),
    data: z.boolean(),
    sample: { request: STREAM_SAMPLE, data: true },
  }),
  'liveOperator.kick': operation({
    summary: {
      'zh-CN': '断开直播流的推流端；推流端可以重新推流',
      en: 'Disconnects the publisher of a stream; it may publish again',
    },
    request: request(STREAM),
    data: z.boolean(),
    sample: { request: STREAM_SAMPLE, data: true },
  }),
  'liveOperator.history': operation({
    summary: {
      'zh-CN': '分页查询域名的历史直播',
      en: 'Lists the broadcasts of a domain, a page at a time, the newest first',
    },
    request: request({
      account_id: identifier,
      domain_id: identifier,
      ...BROADCAST_FILTER,
      ...PAGE_FIELDS,
    }),
    data: z.object({ total: z.int(), list: z.array(BROADCAST) }),
    sample: {
      request: { account_id: '2', domain_id: '1001', page: 1 },
      data: {
        total: 1,
        list: [
          {
            app_name: 'live',
            stream_name: 'news',
            broadcast: 'k3v9',
            edge: 'local',
            address: '192.0.2.7',
            source: 'publish',
            timestamp: 1769745600,
            endtime: 1769749200,
            end_reason: 'unpublished',
            peak_viewers: 55,
          },
        ],
      },
    },
  }),
  'liveOperator.getKeys': operation({
    summary: { 'zh-CN': '查询域名的推流和播放密钥', en: 'Shows the keys of a domain for publishing and playing' },
    request: request({ account_id: identifier, domain_id: identifier }),
    data: KEYS,
    sample: { request: { account_id: '2', domain_id: '1001' }, data: KEYS_SAMPLE },
  }),
  'liveOperator.setKeys': operation({
    summary: {
      'zh-CN': '更换、设置或清除域名的推流或播放密钥',
      en: 'Rotates, sets or removes the keys of a domain for publishing or playing',
    },
    request: request({
      account_id: identifier,
      domain_id: identifier,
      kind: choice(['publish', 'play'], { 'zh-CN': 'publish（推流）或 play（播放）', en: 'publish or play' }),
      action: choice(['rotate', 'drop_secondary', 'clear'], {
        'zh-CN': 'rotate（更换主密钥，原主密钥成为备用密钥）、drop_secondary（删除备用密钥）或 clear（全部删除）',
        en: 'rotate (a new primary key, the old one becomes the secondary), drop_secondary or clear (no keys)',
      }),
      key: optional(givenKey),
    }),
    data: KEYS,
    sample: { request: { account_id: '2', domain_id: '1001', kind: 'publish', action: 'rotate' }, data: KEYS_SAMPLE },
  }),
};
