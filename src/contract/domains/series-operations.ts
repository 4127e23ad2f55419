/** Statistics as charts show them: several series on one axis of time, and what is on top. docs/decisions/0673 */
import * as z from 'zod';
import { choice, choices, clearable, identifier, integer, optional, unixTime } from '../schema/fields.ts';
import { domainIds } from '../schema/id-lists.ts';
import { operation, request } from '../schema/operation.ts';
import { GRAINS } from './traffic-operations.ts';

export const MAX_POINTS = 1_500;
const MAX_SERIES_DOMAINS = 20;
const MAX_TOP = 100;
/** How far back one may compare with. */
const MAX_SHIFT_SECONDS = 400 * 86_400;

export const SERIES_METRICS = [
  'requests',
  'bytes_out',
  'bytes_in',
  'bytes_origin',
  'hits',
  'hit_bytes',
  'hit_ratio',
  'byte_hit_ratio',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
] as const;
const SERIES_BY = ['none', 'domain', 'status'] as const;
const TOP_SPANS = ['24h', '7d', '30d'] as const;

const at = z.int().describe('Unix milliseconds');
const completeUntil = z
  .int()
  .describe('Unix milliseconds: what is later may still grow, as edges report each half minute');

/** Domains that one call shows. */
export const fewDomainIds = {
  ...domainIds,
  schema: domainIds.schema.refine((list) => list.length <= MAX_SERIES_DOMAINS),
  expects: {
    'zh-CN': `1 到 ${MAX_SERIES_DOMAINS} 个域名 id，用逗号分隔或为数组`,
    en: `1 to ${MAX_SERIES_DOMAINS} ids of domains, comma-separated or an array`,
  },
};

const SERIES = z
  .object({
    domain_id: z.string().describe('empty: all domains together'),
    domain_name: z.string(),
    metric: z.enum(SERIES_METRICS),
    values: z
      .array(z.number().nullable())
      .describe('one for each of `times`; null: a ratio of nothing, or a time before the first statistics'),
    before: z
      .array(z.number().nullable())
      .optional()
      .describe('only with `shift`: the values of as much earlier, at the same places'),
  })
  .meta({ id: 'StatSeries' });

const LIVE_POINT = z.object({
  at,
  requests: z.int(),
  hits: z.int(),
  bytes_out: z.int(),
  status_4xx: z.int(),
  status_5xx: z.int(),
});

const START = 1_769_832_000_000;

export const SERIES_OPERATIONS = {
  'stat.series': operation({
    summary: {
      'zh-CN': '查询统计曲线：多个指标、域名，可与之前的时间对比',
      en: 'Gets statistics as series: several metrics and domains, also compared with an earlier time',
    },
    request: request({
      domain_ids: clearable(fewDomainIds),
      metrics: choices(SERIES_METRICS, {
        'zh-CN': `数组，取自 ${SERIES_METRICS.join('、')}，至少一个`,
        en: `an array of at least one of ${SERIES_METRICS.join(', ')}`,
      }),
      interval: optional(
        choice(GRAINS, {
          'zh-CN': 'minute、hour 或 day（默认：点数不超过 points 的最小者）',
          en: 'minute, hour or day (default: the smallest that makes at most `points`)',
        }),
      ),
      points: optional(integer(1, MAX_POINTS)),
      starttime: optional(unixTime),
      endtime: optional(unixTime),
      shift: optional(integer(1, MAX_SHIFT_SECONDS)),
      by: optional(
        choice(SERIES_BY, {
          'zh-CN': 'none（合计，默认）、domain（按域名）或 status（按状态码类别）',
          en: 'none (all together, the default), domain, or status (a series for each class of statuses)',
        }),
      ),
    }),
    data: z.object({
      interval: z.enum(GRAINS),
      from: at,
      to: at,
      complete_until: completeUntil,
      times: z.array(at).describe('beginnings of the minutes, hours or days'),
      series: z.array(SERIES),
    }),
    sample: {
      request: {
        metrics: ['requests', 'hit_ratio'],
        interval: 'hour',
        starttime: 1_769_832_000,
        endtime: 1_769_832_000,
      },
      data: {
        interval: 'hour',
        from: START,
        to: START,
        complete_until: START + 3_540_000,
        times: [START],
        series: [
          { domain_id: '', domain_name: '', metric: 'requests', values: [4] },
          { domain_id: '', domain_name: '', metric: 'hit_ratio', values: [0.75] },
        ],
      },
    },
  }),
  'stat.live': operation({
    summary: {
      'zh-CN': '查询最近五分钟的流量（每 10 秒一个点）',
      en: 'Gets the traffic of the last five minutes by ten seconds',
    },
    request: request({ domain_id: optional(identifier) }),
    data: z.object({
      interval_seconds: z
        .int()
        .describe('length of each interval: 10, or 60 where edges cannot be asked for what is finer'),
      complete_until: completeUntil,
      missing_edges: z.int().describe('number of edges that did not answer in time: their traffic is left out'),
      list: z
        .array(LIVE_POINT)
        .describe(
          'the oldest first: with 10 s at most 30 that are over, fewer after the start of an edge; with 60 s the last six minutes, of which the last has begun',
        ),
    }),
    sample: {
      request: { domain_id: '1001' },
      data: {
        interval_seconds: 10,
        complete_until: START + 10_000,
        missing_edges: 0,
        list: [{ at: START, requests: 4, hits: 3, bytes_out: 20_931, status_4xx: 0, status_5xx: 0 }],
      },
    },
  }),
  'stat.topDomains': operation({
    summary: {
      'zh-CN': '查询流量或请求最多的域名',
      en: 'Gets the domains with the most traffic or requests',
    },
    request: request({
      span: optional(
        choice(TOP_SPANS, {
          'zh-CN': '24h（默认）、7d 或 30d',
          en: '24h (the default), 7d or 30d, each until now',
        }),
      ),
      sort: optional(
        choice(['bytes_out', 'requests'], {
          'zh-CN': 'bytes_out（流量，默认）或 requests（请求数）',
          en: 'bytes_out (the default) or requests',
        }),
      ),
      limit: optional(integer(1, MAX_TOP)),
    }),
    data: z.object({
      counted_at: at.describe('Unix milliseconds: the answer is at most a minute old'),
      list: z.array(
        z.object({ domain_id: z.string(), domain_name: z.string(), requests: z.int(), bytes_out: z.int() }),
      ),
    }),
    sample: {
      request: { span: '24h', limit: 10 },
      data: {
        counted_at: START,
        list: [{ domain_id: '1001', domain_name: 'www.example.com', requests: 4, bytes_out: 20_931 }],
      },
    },
  }),
};
