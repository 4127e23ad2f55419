/** What the fields of a log line mean. */
import type { LineField } from '../pages/logs/line.ts';

type Meanings = Partial<Readonly<Record<LineField, string>>>;

const en = {
  meanings: {
    time: 'When the request ended, in the service’s time zone.',
    edge: 'The edge that answered.',
    client: 'The address that the request came from.',
    target: 'As it was received; cut where it is long.',
    duration_ms: 'Milliseconds from the first byte of the request to the last of the answer.',
    request_bytes: 'Bytes that the client sent, head and body.',
    response_bytes: 'Bytes that the client was sent, head and body.',
    referer: 'The page that led here, as the client says.',
    user_agent: 'The client’s program, as it says itself.',
  } as Meanings,
  codes: {
    TCP_HIT: 'From the cache, read from the disk.',
    TCP_MEM_HIT: 'From the cache in memory, or along with another request that brought it there.',
    TCP_MISS: 'From the origin.',
    TCP_REFRESH_HIT: 'The origin was asked, and it was still the same.',
    TCP_REFRESH_MISS: 'The origin was asked, and sent a new version.',
    TCP_IMS_HIT: 'The client already had it: 304 out of the cache.',
    TCP_NEGATIVE_HIT: 'An error answer from the cache.',
    TCP_STALE_HIT: 'Stale, as the answer or a failure of the origin allowed.',
    TCP_DENIED: 'Refused by the state or the rules of the domain.',
    NONE: 'Made by the edge itself: an error, or a redirect.',
  },
  leftEarly: 'The client left before the end.',
};

const zh: typeof en = {
  meanings: {
    time: '请求结束的时间，按服务时区。',
    edge: '响应该请求的节点。',
    client: '请求的来源地址。',
    target: '按收到的原样记录，过长时截断。',
    duration_ms: '从收到请求的第一个字节到发完响应的毫秒数。',
    request_bytes: '客户端发送的字节数，含请求头和正文。',
    response_bytes: '发送给客户端的字节数，含响应头和正文。',
    referer: '客户端所称的来源页面。',
    user_agent: '客户端自称的程序。',
  },
  codes: {
    TCP_HIT: '来自缓存，从磁盘读取。',
    TCP_MEM_HIT: '来自内存缓存，或与正在回源的另一请求共享。',
    TCP_MISS: '来自源站。',
    TCP_REFRESH_HIT: '已向源站验证，内容未变。',
    TCP_REFRESH_MISS: '已向源站验证，源站返回了新内容。',
    TCP_IMS_HIT: '客户端已有该内容，由缓存返回 304。',
    TCP_NEGATIVE_HIT: '来自缓存的错误响应。',
    TCP_STALE_HIT: '已过期的内容，响应头或源站故障允许使用。',
    TCP_DENIED: '被域名的状态或规则拒绝。',
    NONE: '由节点自身生成：错误或跳转。',
  },
  leftEarly: '客户端提前断开。',
};

export const logFieldsText = { en, 'zh-CN': zh };
