/** The errors of sinks of log lines: part of the table in `errors.ts`. */
import { refusal } from './error-row.ts';

export const SINK_ERRORS = {
  sinkNotFound: refusal('实时日志的接收地址 {name} 不存在', 'the sink {name} does not exist'),
  sinkLimit: refusal('实时日志的接收地址已达上限 {limit}', 'the limit of {limit} sinks is reached'),
  sinkLocked: refusal(
    '无法打开已存储的接收地址 {name}：密钥环缺少其密钥，请重新设置',
    'the stored sink {name} cannot be opened, because the key ring lacks its key: set it again',
  ),
  sinkHeadersKept: refusal(
    '接收地址 {name} 的协议、主机或端口已变更，已存储的请求头不会发往新地址：请重新提供 headers，置空则不带请求头',
    'the stored header fields of the sink {name} are not sent to another scheme, host or port: expected headers with the new URL, empty for none',
  ),
};
