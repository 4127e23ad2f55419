/** What the console shows of a customer's live streams: all of them with details, and one of them playing. docs/decisions/0702 */
import * as z from 'zod';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { optional, seconds } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { appName, domainName as domain, liveState, STREAM_ROW, STREAM_ROW_SAMPLE, streamName } from './live-fields.ts';

export const LIVE_VIEW_OPERATIONS = {
  'live.list': operation({
    summary: {
      'zh-CN': '分页查询账户所有或某个域名的直播流及其详情',
      en: 'Lists live streams with details, of all domains of the account or of one, a page at a time',
    },
    request: request({
      domain: optional(domain),
      app_name: optional(appName),
      stream_name: optional(streamName),
      status: optional(liveState),
      ...PAGE_FIELDS,
    }),
    data: z.object({
      total: z.int().describe('number of streams that match, on all pages'),
      list: z.array(z.object(STREAM_ROW)),
    }),
    sample: {
      request: { status: 'ONGOING', page: 1, page_size: 20 },
      data: { total: 1, list: [STREAM_ROW_SAMPLE] },
    },
  }),
  'live.preview': operation({
    summary: {
      'zh-CN': '取得在控制台中预览直播流的地址（仅限登录会话）',
      en: 'Gets the address at which the session of a browser can play a stream through control',
    },
    request: request({ domain, app_name: appName, stream_name: streamName }),
    data: z.object({
      url: z
        .string()
        .describe('path and query below the origin of the console; it plays HTTP-FLV, for this session alone'),
      expires_at: seconds.describe('when it ends, also while it plays, Unix seconds'),
    }),
    sample: {
      request: { domain: 'live.example.com', app_name: 'live', stream_name: 'news' },
      data: {
        url: '/previews/31/1001/live.example.com/live/news.flv?expires=1769832600&key=0123456789abcdef&signature=c2lnbmF0dXJl',
        expires_at: 1769832600,
      },
    },
  }),
};
