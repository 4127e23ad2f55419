/** What a customer reads of live streams: `/stat/domainStream*` and `/live/*`. */
import * as z from 'zod';
import { YEAR_SECONDS } from '../../model/limits.ts';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { choice, integer, optional, seconds, text, unixTime } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import {
  appName,
  BROADCAST_DATA,
  BROADCAST_FILTER,
  domainName as domain,
  LIVE_STATES,
  streamName,
  VIEWERS,
  VIEWERS_DATA,
  VIEWERS_SAMPLE,
} from './live-fields.ts';
import { LIVE_RECORDING_OPERATIONS } from './live-recording-operations.ts';
import { LIVE_VIEW_OPERATIONS } from './live-view-operations.ts';

export const VIEWER_GRAINS = ['minute', 'hour'] as const;

const ADDRESS = z.object({
  protocol: z.enum(['rtmp', 'rtmps', 'http-flv', 'https-flv', 'hls', 'https-hls']),
  url: z.string(),
});

const SAMPLE_KEY = 'auth_key=1769918400-5f2a9c-0-0123456789abcdef0123456789abcdef';

export const LIVE_OPERATIONS = {
  ...LIVE_RECORDING_OPERATIONS,
  ...LIVE_VIEW_OPERATIONS,

  'live.streams': operation({
    summary: { 'zh-CN': '查询直播域名的直播流', en: 'Lists the live streams of a domain' },
    request: request({ domain }),
    data: z.array(
      z.object({
        app_name: z.string(),
        stream_name: z.string(),
        status: z.enum(LIVE_STATES).describe('READY: available; ONGOING: on air; PAUSED: forbidden'),
        timestamp: seconds.describe('when the latest broadcast began, Unix seconds; 0: it was never on air'),
        endtime: seconds.describe('when it ended, Unix seconds; 0: it is on air, or was never'),
      }),
    ),
    sample: {
      request: { domain: 'live.example.com' },
      data: [
        { app_name: 'live', stream_name: 'news', status: 'ONGOING', timestamp: 1769832000, endtime: 0 },
        { app_name: 'live', stream_name: 'old', status: 'READY', timestamp: 1769745600, endtime: 1769749200 },
      ],
    },
  }),
  'live.history': operation({
    summary: {
      'zh-CN': '分页查询直播域名的历史直播',
      en: 'Lists the broadcasts of a domain, a page at a time, the newest first',
    },
    request: request({ domain, ...BROADCAST_FILTER, ...PAGE_FIELDS }),
    data: z.object({
      total: z.int().describe('number of broadcasts that match, on all pages'),
      list: z.array(z.object(BROADCAST_DATA)),
    }),
    sample: {
      request: { domain: 'live.example.com', page: 1, page_size: 20 },
      data: {
        total: 1,
        list: [
          {
            app_name: 'live',
            stream_name: 'old',
            timestamp: 1769745600,
            endtime: 1769749200,
            source: 'publish',
            end_reason: 'unpublished',
            peak_viewers: 55,
          },
        ],
      },
    },
  }),
  'live.viewers': operation({
    summary: { 'zh-CN': '查询直播的当前观看数和观看数变化', en: 'Gets the viewers of live streams, now and over time' },
    request: request({
      domain,
      app_name: optional(appName),
      stream_name: optional(streamName),
      interval: optional(choice(VIEWER_GRAINS, { 'zh-CN': 'minute（分钟）或 hour（小时）', en: 'minute or hour' })),
      starttime: optional(unixTime),
      endtime: optional(unixTime),
    }),
    data: z.object({
      now: VIEWERS_DATA.describe('of the last report, at most 5 s old'),
      interval: z.enum(VIEWER_GRAINS),
      list: z
        .array(z.object({ time: seconds.describe('when the minute or hour begins, Unix seconds'), ...VIEWERS }))
        .describe("sum of each stream's maximum; times without a stream on air are left out"),
    }),
    sample: {
      request: { domain: 'live.example.com', interval: 'minute' },
      data: { now: VIEWERS_SAMPLE, interval: 'minute', list: [{ time: 1769832000, ...VIEWERS_SAMPLE }] },
    },
  }),
  'live.pushInfo': operation({
    summary: {
      'zh-CN': '查询直播流的推流和播放地址（含鉴权参数）',
      en: 'Gets the addresses for publishing and playing a stream, with their keys',
    },
    request: request({
      domain,
      app_name: appName,
      stream_name: streamName,
      host: optional(text({ min: 1, max: 253 })),
      expire: optional(integer(60, YEAR_SECONDS)),
    }),
    data: z.object({
      publish: z.array(
        z.object({
          ...ADDRESS.shape,
          server: z.string().describe('for encoders with separate fields for server and stream key'),
          stream_key: z.string(),
        }),
      ),
      play: z.array(ADDRESS),
      expire_time: seconds.describe('until when a session can begin with the addresses, Unix seconds'),
    }),
    sample: {
      request: { domain: 'live.example.com', app_name: 'live', stream_name: 'news', expire: 86400 },
      data: {
        publish: [
          {
            protocol: 'rtmp',
            url: `rtmp://live.example.com/live/news?${SAMPLE_KEY}`,
            server: 'rtmp://live.example.com/live',
            stream_key: `news?${SAMPLE_KEY}`,
          },
        ],
        play: [
          { protocol: 'rtmp', url: 'rtmp://live.example.com/live/news' },
          { protocol: 'http-flv', url: 'http://live.example.com/live/news.flv' },
          { protocol: 'hls', url: 'http://live.example.com/live/news.m3u8' },
        ],
        expire_time: 1769918400,
      },
    },
  }),
};
