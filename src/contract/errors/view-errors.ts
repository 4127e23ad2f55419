/** The errors of what pages show: part of the table in `errors.ts`. */
import { refusal, row } from './error-row.ts';

export const VIEW_ERRORS = {
  watchesFull: row(
    429,
    2010,
    '同时打开的提示流过多：每个令牌至多 {limit} 个',
    'too many streams of hints are open: at most {limit} of a token at once',
  ),
  probeTooSoon: refusal(
    '试连源站过于频繁（每个账户每分钟至多 {limit} 次），请在 {seconds} 秒后重试',
    'too many origins were tried (at most {limit} a minute of an account); try again in {seconds} s',
  ),
  trialTooLarge: refusal(
    '这些配置过大，无法在节点上试算：请先保存',
    'these settings are too large to be tried at an edge: save them first',
  ),
  searchesFull: row(
    429,
    2010,
    '正在查找日志：每个账户同时至多 {limit} 次，请稍后重试',
    'logs are being searched: at most {limit} search of an account at once; try again in a moment',
  ),
  monthNotKept: refusal(
    '没有 {month} 的带宽采样：可查询 {first} 至 {last}',
    'there are no samples of {month}: expected a month from {first} to {last}',
  ),
  monthNotWhole: refusal(
    '{month} 的带宽采样不完整：采样自当月升级后才开始，请查询之后的月份',
    'the samples of {month} are not complete, since they begin with an update of the service: expected a later month',
  ),
  seriesTooLong: refusal(
    '所查询的时间有 {points} 个点：至多 {limit} 个，请缩短时间或增大 interval',
    'the time asked for has {points} points: expected at most {limit}, so a shorter time or a larger interval',
  ),
};
