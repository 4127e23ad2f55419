/** The errors of live streams: part of the table in `errors.ts`. */
import { refusal, row } from './error-row.ts';

export const LIVE_ERRORS = {
  domainNotLive: refusal(
    '域名 {domainId} 不是直播域名（cdn_type 4）',
    'domain {domainId} is not a live domain (cdn_type 4)',
  ),
  liveStreamNotFound: refusal('直播流 {app}/{stream} 不存在', 'live stream {app}/{stream} does not exist'),
  liveNotOnAir: refusal('直播流 {app}/{stream} 不在直播中', 'live stream {app}/{stream} is not on air'),
  previewNeedsSession: refusal(
    '只有登录控制台的会话可以预览直播流',
    'only a session of the console can preview a stream: sign in there',
  ),
  previewsFull: row(
    429,
    2010,
    '同时预览的直播流过多：每个账户至多 {own} 个，合计至多 {limit} 个，请稍后重试',
    'too many streams are being previewed: at most {own} of an account at once, and {limit} in all; try again later',
  ),
  previewSilent: row(
    504,
    2001,
    '没有节点在 {seconds} 秒内送来该直播流',
    'no edge has sent the stream within {seconds} s',
  ),
  previewInvalid: row(
    403,
    2001,
    '预览地址无效，或属于其他会话',
    'the preview address is invalid, or of another session',
  ),
  previewExpired: row(403, 2001, '预览地址已过期，请重新取得', 'the preview address has expired: get another one'),
  liveForbidLimit: refusal(
    '该域名被禁播的直播流已达上限 {limit}',
    'the domain has reached its limit of {limit} forbidden streams',
  ),
  liveHostInvalid: refusal(
    '字段 host 无效：应为域名 {name} 包括的域名',
    'field host is invalid: expected a host name of the domain {name}',
  ),
  recordingNotFound: row(404, 2001, '录制文件不存在', 'the recording does not exist'),
  liveRecordingNotFound: refusal('录制 {recording} 不存在', 'recording {recording} does not exist'),
  liveKeyUnused: refusal(
    '字段 key 无效：仅 action 为 rotate 时可以指定',
    'field key is invalid: allowed only with the action rotate',
  ),
  resumePast: refusal(
    '字段 resume_at 无效：应为将来的时间（Unix 秒），而 {given} 是 {moment}',
    'field resume_at is invalid: expected a time in the future (Unix seconds), but {given} is {moment}',
  ),
} as const;
