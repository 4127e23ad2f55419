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
