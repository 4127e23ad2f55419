/** Fields and data that operations of live streams have in common. */
import * as z from 'zod';
import { LIVE_APP_NAME, LIVE_STREAM_NAME } from '../../model/limits.ts';
import { choice, matching, optional, seconds, text, unixTime } from '../schema/fields.ts';

export const LIVE_STATES = ['READY', 'ONGOING', 'PAUSED'] as const;

export const domainName = text({ min: 1, max: 255 });
export const appName = name(LIVE_APP_NAME, 64);
export const streamName = name(LIVE_STREAM_NAME, 128);

/** Which broadcasts of a domain a list is of: those of an app or a stream, and those of a time. */
export const BROADCAST_FILTER = {
  app_name: optional(appName),
  stream_name: optional(streamName),
  starttime: optional(unixTime),
  endtime: optional(unixTime),
};

export const liveState = choice(LIVE_STATES, {
  'zh-CN': 'READY（可用）、ONGOING（直播中）或 PAUSED（已禁播）',
  en: 'READY, ONGOING or PAUSED',
});

function name(pattern: RegExp, max: number) {
  return matching(pattern, {
    'zh-CN': `1 到 ${max} 个字符的名称：字母、数字、_、.、-，以字母或数字开头`,
    en: `a name of 1 to ${max} letters, digits, _, . and -, which begins with a letter or a digit`,
  });
}

/** A broadcast in a list. */
export const BROADCAST_DATA = {
  app_name: z.string(),
  stream_name: z.string(),
  timestamp: seconds.describe('when it began, Unix seconds'),
  endtime: seconds.describe('when it ended, Unix seconds; 0: it is on air'),
  source: z.enum(['publish', 'origin']),
  end_reason: z
    .string()
    .describe(
      'unpublished, lost, forbidden, kicked, closed, stopped, crashed, unwatched or replaced; empty: it is on air',
    ),
  peak_viewers: z.int().describe('maximum of concurrent viewers'),
};

export const VIEWERS = {
  flv: z.int().describe('HTTP-FLV connections'),
  websocket: z.int().describe('WebSocket-FLV connections'),
  rtmp: z.int().describe('RTMP connections'),
  hls: z.int().describe('HLS: different client addresses, User-Agents and keys within 30 s'),
};

export const VIEWERS_DATA = z.object(VIEWERS).meta({ id: 'Viewers' });

export const VIEWERS_SAMPLE = { flv: 12, websocket: 3, rtmp: 0, hls: 40 };

/** A stream in a list, with details while it is on air. */
export const STREAM_ROW = {
  domain_id: z.string(),
  domain: z.string(),
  app_name: z.string(),
  stream_name: z.string(),
  status: z.enum(LIVE_STATES),
  timestamp: seconds.describe('when the latest broadcast began, Unix seconds; 0: it was never on air'),
  endtime: seconds.describe('when it ended, Unix seconds; 0: it is on air, or was never'),
  resume_at: seconds.describe(
    'when a forbidden stream resumes automatically, Unix seconds; 0: only when it is resumed',
  ),
  details: z
    .object({
      source: z.enum(['publish', 'origin']),
      address: z.string().describe('of the publisher or the origin'),
      encoder: z.string().describe('software of the publisher, by its own account'),
      video_codec: z.string().describe('empty: no video'),
      audio_codec: z.string().describe('empty: no audio'),
      width: z.int(),
      height: z.int(),
      frame_rate: z.number(),
      key_frame_ms: z.int().describe('distance between key frames'),
      bit_rate: z.int().describe('bits per second'),
      viewers: VIEWERS_DATA,
      silent_ms: z.int().describe('time without media at the time of the report'),
      in_grace: z.enum(['0', '1']).describe('1: the publisher was lost and may come back'),
      repaired_timestamps: z.int().describe('timestamps that went back or jumped'),
      report_age_ms: z.int().describe('age of these details'),
    })
    .meta({ id: 'LiveStreamDetails' })
    .nullable()
    .describe('null: it is not on air'),
};

export const STREAM_ROW_SAMPLE = {
  domain_id: '1001',
  domain: 'live.example.com',
  app_name: 'live',
  stream_name: 'news',
  status: 'ONGOING',
  timestamp: 1769832000,
  endtime: 0,
  resume_at: 0,
  details: {
    source: 'publish',
    address: '192.0.2.7',
    encoder: 'FMLE/3.0',
    video_codec: 'avc1',
    audio_codec: 'mp4a',
    width: 1280,
    height: 720,
    frame_rate: 30,
    key_frame_ms: 2000,
    bit_rate: 2_100_000,
    viewers: VIEWERS_SAMPLE,
    silent_ms: 20,
    in_grace: '0',
    repaired_timestamps: 0,
    report_age_ms: 1200,
  },
} as const;
