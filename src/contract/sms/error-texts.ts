/** What the `error` of a part means, in words: our own reasons, a carrier's status or result, and words of receipts. */
import type { Localized } from '../schema/locale.ts';

/** Why a part waits, was not sent, or has no answer. */
const OWN: Readonly<Record<string, Localized>> = {
  timeout: { 'zh-CN': '运营商没有在时限内应答', en: 'the carrier did not answer in time' },
  disconnected: { 'zh-CN': '应答之前连接已断开', en: 'the connection ended before the answer' },
  interrupted: {
    'zh-CN': '发送时本服务中断，不知是否已发出',
    en: 'the service stopped while it sent; the outcome is not known',
  },
  otherPart: {
    'zh-CN': '同一短信的另一部分已失败，因此不再发送',
    en: 'another part of the message failed, so this one is not sent',
  },
  optOut: { 'zh-CN': '该号码已退订营销短信', en: 'the number has opted out of advertising' },
  expired: { 'zh-CN': '有效期内未能送达', en: 'the validity ended before it was delivered' },
  connecting: { 'zh-CN': '通道正在连接运营商', en: 'the connector is connecting to its carrier' },
  bound: { 'zh-CN': '通道的发送窗口已满', en: 'the window of the connector is full' },
  paused: { 'zh-CN': '运营商限速，通道暂停发送', en: 'the carrier is throttling, and the connector pauses' },
  closed: { 'zh-CN': '通道已关闭', en: 'the connector is closed' },
  lease: { 'zh-CN': '通道已由另一台控制机接管', en: 'another control has taken over the connector' },
  late: {
    'zh-CN': '领取后未能及时发出，将重新排队',
    en: 'it was not sent in time after it was claimed, and is queued again',
  },
};

/** SMPP 3.4 §5.1.3. */
const STATUSES: Readonly<Record<number, Localized>> = {
  1: { 'zh-CN': '短信长度无效', en: 'invalid message length' },
  2: { 'zh-CN': '命令长度无效', en: 'invalid command length' },
  3: { 'zh-CN': '命令标识无效', en: 'invalid command id' },
  4: { 'zh-CN': '会话未绑定', en: 'the session is not bound for this command' },
  6: { 'zh-CN': '优先级无效', en: 'invalid priority flag' },
  7: { 'zh-CN': '回执选项无效', en: 'invalid registered delivery flag' },
  8: { 'zh-CN': '运营商系统错误', en: 'system error of the carrier' },
  10: { 'zh-CN': '发送号码（签名）无效', en: 'invalid source address' },
  11: { 'zh-CN': '接收号码无效', en: 'invalid destination address' },
  12: { 'zh-CN': '消息编号无效', en: 'invalid message id' },
  20: { 'zh-CN': '运营商的队列已满', en: "the carrier's queue is full" },
  21: { 'zh-CN': '业务类型无效', en: 'invalid service type' },
  64: { 'zh-CN': '接收号码数量无效', en: 'invalid destination flag' },
  66: { 'zh-CN': '提交参数组合无效', en: 'invalid submit with replace request' },
  67: { 'zh-CN': 'esm_class 无效', en: 'invalid esm_class' },
  68: { 'zh-CN': '不允许提交', en: 'cannot submit to this list' },
  69: { 'zh-CN': '运营商拒绝提交', en: 'the submit failed' },
  72: { 'zh-CN': '发送号码的 TON 无效', en: 'invalid type of number of the source' },
  73: { 'zh-CN': '发送号码的 NPI 无效', en: 'invalid numbering plan of the source' },
  80: { 'zh-CN': '接收号码的 TON 无效', en: 'invalid type of number of the destination' },
  81: { 'zh-CN': '接收号码的 NPI 无效', en: 'invalid numbering plan of the destination' },
  83: { 'zh-CN': 'system_type 无效', en: 'invalid system type' },
  88: { 'zh-CN': '超过运营商允许的速率', en: "the carrier's rate limit was exceeded" },
  97: { 'zh-CN': '定时发送时间无效', en: 'invalid scheduled delivery time' },
  98: { 'zh-CN': '有效期无效', en: 'invalid validity period' },
  100: { 'zh-CN': '暂时性错误', en: 'temporary error' },
  101: { 'zh-CN': '永久性错误', en: 'permanent error' },
  102: { 'zh-CN': '运营商拒绝该短信', en: 'the carrier rejected the message' },
  192: { 'zh-CN': '可选参数无效', en: 'error in the optional parameters' },
  193: { 'zh-CN': '不允许该可选参数', en: 'an optional parameter is not allowed' },
  195: { 'zh-CN': '缺少可选参数', en: 'an expected optional parameter is missing' },
  196: { 'zh-CN': '可选参数的值无效', en: 'invalid value of an optional parameter' },
  254: { 'zh-CN': '投递失败', en: 'the delivery failed' },
  255: { 'zh-CN': '未知错误', en: 'unknown error' },
};

/** Results of a submit by the documents of CMPP, SMGP and SGIP; SGIP has the same in reports. */
const RESULTS: Readonly<Record<string, Localized>> = {
  'cmpp:1': { 'zh-CN': '消息结构错', en: 'invalid structure' },
  'cmpp:2': { 'zh-CN': '命令字错', en: 'invalid command' },
  'cmpp:3': { 'zh-CN': '消息序号重复', en: 'repeated sequence' },
  'cmpp:4': { 'zh-CN': '消息长度错', en: 'invalid length' },
  'cmpp:5': { 'zh-CN': '资费代码错', en: 'invalid fee code' },
  'cmpp:6': { 'zh-CN': '超过最大信息长', en: 'the message is too long' },
  'cmpp:7': { 'zh-CN': '业务代码错', en: 'invalid service code' },
  'cmpp:8': { 'zh-CN': '流量控制错', en: "the carrier's rate limit was exceeded" },
  'cmpp:9': { 'zh-CN': '网关不负责服务此计费号码', en: 'the gateway does not serve the charged number' },
  'cmpp:10': { 'zh-CN': 'Src_Id 错误', en: 'invalid sender (Src_Id)' },
  'cmpp:11': { 'zh-CN': 'Msg_src 错误', en: "invalid enterprise's code (Msg_src)" },
  'cmpp:12': { 'zh-CN': '计费号码错误', en: 'invalid charged number' },
  'cmpp:13': { 'zh-CN': '接收号码错误', en: 'invalid destination number' },
  'smgp:1': { 'zh-CN': '系统忙', en: 'the gateway is busy' },
  'smgp:10': { 'zh-CN': '消息结构错', en: 'invalid structure' },
  'smgp:11': { 'zh-CN': '命令字错', en: 'invalid command' },
  'smgp:12': { 'zh-CN': '序列号重复', en: 'repeated sequence' },
  'smgp:20': { 'zh-CN': 'IP 地址错', en: 'wrong IP address' },
  'smgp:21': { 'zh-CN': '认证错', en: 'wrong account or password' },
  'smgp:22': { 'zh-CN': '版本太高', en: 'unsupported version' },
  'smgp:30': { 'zh-CN': '非法消息类型', en: 'invalid type of message' },
  'smgp:31': { 'zh-CN': '非法优先级', en: 'invalid priority' },
  'smgp:32': { 'zh-CN': '非法资费类型', en: 'invalid fee type' },
  'smgp:33': { 'zh-CN': '非法资费代码', en: 'invalid fee code' },
  'smgp:34': { 'zh-CN': '非法短消息格式', en: 'invalid message format' },
  'smgp:35': { 'zh-CN': '非法时间格式', en: 'invalid time' },
  'smgp:36': { 'zh-CN': '非法短消息长度', en: 'invalid message length' },
  'smgp:37': { 'zh-CN': '有效期已过', en: 'the validity is over' },
  'smgp:47': { 'zh-CN': '接收号码错误', en: 'invalid destination number' },
  'sgip:1': { 'zh-CN': '非法登录', en: 'invalid login' },
  'sgip:2': { 'zh-CN': '重复登录', en: 'repeated login' },
  'sgip:3': { 'zh-CN': '连接过多', en: 'too many connections' },
  'sgip:4': { 'zh-CN': '登录类型错', en: 'invalid type of login' },
  'sgip:5': { 'zh-CN': '参数格式错', en: 'invalid parameter' },
  'sgip:6': { 'zh-CN': '非法手机号码', en: 'invalid phone number' },
  'sgip:7': { 'zh-CN': '消息 ID 错', en: 'invalid message id' },
  'sgip:8': { 'zh-CN': '信息长度错', en: 'invalid length' },
  'sgip:9': { 'zh-CN': '非法序列号', en: 'invalid sequence' },
  'sgip:10': { 'zh-CN': '非法操作', en: 'operation not allowed' },
  'sgip:11': { 'zh-CN': '节点忙', en: 'the node is busy' },
  'sgip:21': { 'zh-CN': '目的地址不可达', en: 'the destination is unreachable' },
  'sgip:22': { 'zh-CN': '路由错', en: 'wrong route' },
  'sgip:23': { 'zh-CN': '路由不存在', en: 'no route' },
  'sgip:24': { 'zh-CN': '计费号码无效', en: 'invalid charged number' },
  'sgip:25': { 'zh-CN': '用户不能通信', en: 'the phone cannot communicate' },
  'sgip:26': { 'zh-CN': '手机内存不足', en: 'the memory of the phone is full' },
  'sgip:27': { 'zh-CN': '手机不支持短消息', en: 'the phone does not support SMS' },
  'sgip:28': { 'zh-CN': '手机接收短消息出现错误', en: 'the phone could not receive it' },
  'sgip:29': { 'zh-CN': '不知道的用户', en: 'unknown user' },
  'sgip:30': { 'zh-CN': '不提供此功能', en: 'function not offered' },
  'sgip:31': { 'zh-CN': '非法设备', en: 'invalid device' },
  'sgip:32': { 'zh-CN': '系统失败', en: 'failure of the system' },
  'sgip:33': { 'zh-CN': '短信中心队列满', en: "the SMS centre's queue is full" },
};

/** Words of receipts, SMPP 3.4 appendix B. */
const WORDS: Readonly<Record<string, Localized>> = {
  UNDELIV: { 'zh-CN': '运营商未能送达', en: 'the carrier could not deliver it' },
  EXPIRED: { 'zh-CN': '在运营商处过期', en: 'it expired at the carrier' },
  DELETED: { 'zh-CN': '已被运营商删除', en: 'the carrier deleted it' },
  REJECTD: { 'zh-CN': '已被运营商拒绝', en: 'the carrier rejected it' },
  UNKNOWN: { 'zh-CN': '运营商不知其结果', en: 'the carrier does not know the outcome' },
};

/** Returns `undefined` for an error that nothing is known of, such as a carrier's own code. */
export function explainSmsError(error: string): Localized | undefined {
  if (Object.hasOwn(OWN, error)) return OWN[error];
  if (Object.hasOwn(RESULTS, error)) return RESULTS[error];
  const [, digits] = /^0x([0-9a-f]{8})$/.exec(error) ?? [];
  if (digits === undefined) return WORDS[error.split('/', 1).join('').toUpperCase()];
  return STATUSES[Number.parseInt(digits, 16)] ?? { 'zh-CN': '运营商自有的状态码', en: 'a status code of the carrier' };
}
