/** Searching the log lines that control has. docs/decisions/0674 */
import * as z from 'zod';
import { FLAG_TEXT, identifier, integer, matching, optional, text, unixTime } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';

const MAX_FILTER_LENGTH = 1000;
const MAX_FOUND_LINES = 200;

const LINE = z
  .object({
    edge: z.string(),
    client: z.string(),
    time: z.string().describe("as in the log file, in the service's time zone"),
    duration_ms: z.number(),
    request_bytes: z.number(),
    response_bytes: z.number(),
    host: z.string(),
    method: z.string(),
    target: z.string(),
    protocol: z.string(),
    cache: z.string(),
    status: z.number(),
    content_type: z.string(),
    referer: z.string(),
    user_agent: z.string(),
  })
  .meta({ id: 'LogLine' });

export const LOG_SEARCH_OPERATIONS = {
  'log.search': operation({
    summary: {
      'zh-CN': '在最近 24 小时的日志中查找（分段进行）',
      en: 'Searches the log of the last 24 hours, one stretch of it in each call',
    },
    request: request({
      domain_id: identifier,
      filter: optional({
        ...text({ max: MAX_FILTER_LENGTH }),
        expects: {
          'zh-CN': '以空格分隔的条件，如 status=5xx path=/api/*',
          en: 'terms such as status=5xx path=/api/*, divided by blanks',
        },
      }),
      starttime: optional(unixTime),
      endtime: optional(unixTime),
      after: optional(
        matching(/^\d{4}-\d\d-\d\d\.\d{1,15}$/, { 'zh-CN': '上一次答复中的 next', en: '`next` of the answer before' }),
      ),
      limit: optional(integer(1, MAX_FOUND_LINES)),
    }),
    data: z.object({
      list: z.array(LINE).describe('lines that match, the newest files first'),
      searched_bytes: z.int().describe('size of the lines that were read'),
      cut: FLAG_TEXT.describe('1: a file had more lines, or more that match, than one call reads'),
      next: z.string().describe('give it as `after` to search on; empty: all has been searched'),
    }),
    sample: {
      request: { domain_id: '1001', filter: 'status=5xx', limit: 50 },
      data: {
        list: [
          {
            edge: 'fra1',
            client: '198.51.100.7',
            time: '2026-01-31T12:00:00.123+08:00',
            duration_ms: 12,
            request_bytes: 96,
            response_bytes: 412,
            host: 'www.example.com',
            method: 'GET',
            target: '/a.jpg',
            protocol: 'HTTP/1.1',
            cache: 'NONE',
            status: 502,
            content_type: 'text/html',
            referer: '-',
            user_agent: 'curl/8.0',
          },
        ],
        searched_bytes: 20_931,
        cut: '0',
        next: '',
      },
    },
  }),
};
