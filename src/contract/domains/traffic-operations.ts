/** What `/cdnlog/*` and `/stat/*` take and give: log files, and sums of traffic. */
import * as z from 'zod';
import { choice, integer, optional, text, unixTime } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';

export const GRAINS = ['minute', 'hour', 'day'] as const;
export const TOP_LISTS = ['url', 'referer', 'client', 'status'] as const;

const domain = text({ min: 1, max: 255 });

const grain = choice(GRAINS, {
  'zh-CN': 'minute（分钟）、hour（小时）或 day（天）',
  en: 'minute, hour or day',
});

const STATISTICS_REQUEST = request({
  domain: optional(domain),
  interval: optional(grain),
  starttime: optional(unixTime),
  endtime: optional(unixTime),
});

const interval = z.enum(GRAINS);
const time = z.int().describe('when the minute, hour or day begins, Unix seconds');
const count = z.int();
const ratio = z.number().describe('0 to 1');

const TRAFFIC = {
  bytes_out: count.describe('sent to clients, heads and bodies'),
  bytes_in: count.describe('received from clients, heads and bodies'),
  bytes_origin: count.describe('bodies received from origins'),
  hit_bytes: count.describe('sent to clients from the cache'),
  hit_ratio: ratio,
};

const REQUESTS = {
  requests: count,
  hits: count.describe('answered from the cache'),
  hit_ratio: ratio,
  status_2xx: count,
  status_3xx: count,
  status_4xx: count,
  status_5xx: count,
};

const TRAFFIC_SAMPLE = { bytes_out: 20931, bytes_in: 412, bytes_origin: 0, hit_bytes: 20931, hit_ratio: 1 };
const REQUESTS_SAMPLE = {
  requests: 4,
  hits: 3,
  hit_ratio: 0.75,
  status_2xx: 4,
  status_3xx: 0,
  status_4xx: 0,
  status_5xx: 0,
};
const START = 1769832000;

export const TRAFFIC_OPERATIONS = {
  'log.list': operation({
    summary: { 'zh-CN': '查询域名的日志文件', en: 'Lists the daily log files of a domain' },
    request: request({ domain, starttime: optional(unixTime), endtime: optional(unixTime) }),
    data: z.object({
      domain: z.string(),
      logfiles: z.array(
        z.object({
          name: z.string(),
          size: z.string().describe('bytes of the gzip file'),
          url: z.string().describe('download address, valid for a limited time'),
          logTime: z.string().describe("YYYY-MM-DD in the service's time zone"),
        }),
      ),
    }),
    sample: {
      request: { domain: 'www.example.com', starttime: '1769832000', endtime: '1769918400' },
      data: {
        domain: 'www.example.com',
        logfiles: [
          {
            name: 'www.example.com_2026-01-31.log.gz',
            size: '20931',
            url: 'http://127.0.0.1:8700/logs/1/2/2026-01-31/www.example.com_2026-01-31.log.gz?expires=1770000000&key=a&signature=b',
            logTime: '2026-01-31',
          },
        ],
      },
    },
  }),
  'stat.traffic': operation({
    summary: { 'zh-CN': '查询流量统计', en: 'Gets sums of bytes, of one domain or of all' },
    request: STATISTICS_REQUEST,
    data: z.object({ interval, total: z.object(TRAFFIC), list: z.array(z.object({ time, ...TRAFFIC })) }),
    sample: {
      request: { domain: 'www.example.com', interval: 'hour', starttime: START, endtime: START },
      data: { interval: 'hour', total: TRAFFIC_SAMPLE, list: [{ time: START, ...TRAFFIC_SAMPLE }] },
    },
  }),
  'stat.requests': operation({
    summary: { 'zh-CN': '查询请求统计', en: 'Gets sums of requests, of one domain or of all' },
    request: STATISTICS_REQUEST,
    data: z.object({ interval, total: z.object(REQUESTS), list: z.array(z.object({ time, ...REQUESTS })) }),
    sample: {
      request: { domain: 'www.example.com', interval: 'hour', starttime: START, endtime: START },
      data: { interval: 'hour', total: REQUESTS_SAMPLE, list: [{ time: START, ...REQUESTS_SAMPLE }] },
    },
  }),
  'stat.top': operation({
    summary: {
      'zh-CN': '查询请求最多的网址、来源、客户端地址或状态码（近似值）',
      en: 'Gets the URLs, referers, client addresses or statuses with the most requests (approximate)',
    },
    request: request({
      domain: optional(domain),
      kind: choice(TOP_LISTS, {
        'zh-CN': 'url（网址）、referer（来源）、client（客户端地址）或 status（状态码）',
        en: 'url, referer, client or status',
      }),
      limit: optional(integer(1, 100)),
      starttime: optional(unixTime),
      endtime: optional(unixTime),
    }),
    data: z.object({
      approximate: z
        .literal('1')
        .describe('merged from the most frequent values of each log file and hour: counts are approximate'),
      list: z.array(z.object({ value: z.string(), requests: count, bytes: count.describe('sent to clients') })),
    }),
    sample: {
      request: { domain: 'www.example.com', kind: 'url', limit: 10 },
      data: { approximate: '1', list: [{ value: '/a.jpg', requests: 4, bytes: 20931 }] },
    },
  }),
};
