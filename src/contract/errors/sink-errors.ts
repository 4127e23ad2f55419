/** The errors of sinks of log lines: part of the table in `errors.ts`. */
import { refusal } from './error-row.ts';

export const SINK_ERRORS = {
  sinkNotFound: refusal('实时日志的接收地址 {name} 不存在', 'the sink {name} does not exist'),
  sinkLimit: refusal('实时日志的接收地址已达上限 {limit}', 'the limit of {limit} sinks is reached'),
  sinkLocked: refusal(
    '无法打开已存储的接收地址 {name}：密钥环缺少其密钥，请重新设置',
    'the stored sink {name} cannot be opened, because the key ring lacks its key: set it again',
  ),
};
