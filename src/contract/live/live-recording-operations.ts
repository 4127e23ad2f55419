/** Recordings of a live domain's streams: whether they are made, how long they are kept, and where they are. docs/decisions/0503 */
import * as z from 'zod';
import { LIVE_ID } from '../../model/limits.ts';
import { PAGE_FIELDS } from '../domains/list-fields.ts';
import { FLAG_TEXT, flag, integer, matching, optional, seconds } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { IF_REVISION, REVISION_DATA, SAMPLE_REVISION } from '../schema/revision-fields.ts';
import { SUCCEEDED } from '../settings/domain-settings.ts';
import { BROADCAST_FILTER, domainName as domain } from './live-fields.ts';

const MAX_KEEP_DAYS = 3650;

const recording = matching(LIVE_ID, {
  'zh-CN': '录制的 recording_id',
  en: 'the id of a recording as the list shows it',
});

const SAMPLE_FOLDER = 'https://control.example.com/recordings/7/1001/5f2a9c0d1e2f3a4b5c6d7e8f90123456';
const SAMPLE_QUERY = 'expires=1769918400&key=0123456789abcdef&signature=c2lnbmF0dXJl';

export const LIVE_RECORDING_OPERATIONS = {
  'live.getRecording': operation({
    summary: { 'zh-CN': '查询直播域名的录制设置', en: 'Gets the recording settings of a domain' },
    request: request({ domain }),
    data: z.object({
      ...REVISION_DATA,
      record: FLAG_TEXT.describe('1: the streams of the domain are recorded'),
      keep_days: z.int().describe('days that recordings are kept after their last media'),
    }),
    sample: {
      request: { domain: 'live.example.com' },
      data: { revision: SAMPLE_REVISION, record: '1', keep_days: 7 },
    },
  }),
  'live.setRecording': operation({
    summary: { 'zh-CN': '设置是否录制直播域名的直播流', en: 'Sets whether the streams of a domain are recorded' },
    request: request({ domain, record: flag, keep_days: optional(integer(1, MAX_KEEP_DAYS)), ...IF_REVISION }),
    data: SUCCEEDED,
    sample: { request: { domain: 'live.example.com', record: '1', keep_days: 7 }, data: true },
  }),
  'live.listRecordings': operation({
    summary: {
      'zh-CN': '分页查询直播域名的录制',
      en: 'Lists the recordings of a domain, a page at a time, the newest first',
    },
    request: request({ domain, ...BROADCAST_FILTER, ...PAGE_FIELDS }),
    data: z.object({
      total: z.int().describe('number of recordings that match, on all pages'),
      list: z.array(
        z.object({
          recording_id: z.string(),
          app_name: z.string(),
          stream_name: z.string(),
          broadcast: z.string().describe('id of the broadcast; recordings of one follow each other'),
          starttime: seconds.describe('when its media begin, Unix seconds'),
          endtime: seconds.describe('when the stored media end, Unix seconds'),
          duration_ms: z.int().describe('duration of the media, milliseconds'),
          size: z.string().describe('bytes of the download'),
          status: z
            .enum(['RECORDING', 'COMPLETE', 'INCOMPLETE'])
            .describe('RECORDING: in progress; INCOMPLETE: media may be missing at its end'),
          end_reason: z
            .string()
            .describe('ended, off, changed, long, full, slow or crashed; empty: in progress, or the reason is unknown'),
          playlist_url: z.string().describe('an HLS playlist, valid until expire_time'),
          download_url: z.string().describe('the whole recording as an MP4 file, valid until expire_time'),
        }),
      ),
      expire_time: seconds.describe('until when the addresses can be used, Unix seconds'),
    }),
    sample: {
      request: { domain: 'live.example.com', page: 1, page_size: 20 },
      data: {
        total: 1,
        list: [
          {
            recording_id: '5f2a9c0d1e2f3a4b5c6d7e8f90123456',
            app_name: 'live',
            stream_name: 'news',
            broadcast: '0123456789abcdef0123456789abcdef',
            starttime: 1769745600,
            endtime: 1769749200,
            duration_ms: 3_600_000,
            size: '943718400',
            status: 'COMPLETE',
            end_reason: 'ended',
            playlist_url: `${SAMPLE_FOLDER}/index.m3u8?${SAMPLE_QUERY}`,
            download_url: `${SAMPLE_FOLDER}/recording.mp4?${SAMPLE_QUERY}`,
          },
        ],
        expire_time: 1769918400,
      },
    },
  }),
  'live.deleteRecording': operation({
    summary: { 'zh-CN': '删除录制', en: 'Deletes a recording' },
    request: request({ domain, recording_id: recording }),
    data: SUCCEEDED,
    sample: {
      request: { domain: 'live.example.com', recording_id: '5f2a9c0d1e2f3a4b5c6d7e8f90123456' },
      data: true,
    },
  }),
};
