/** Errors of SMS: services, messages, webhooks, money, connectors and routes. */
import { MAX_SMS_UNITS } from '../../model/limits.ts';
import { refusal, row } from './error-row.ts';

export const SMS_ERRORS = {
  timestampInvalid: row(
    200,
    2012,
    '字段 time 无效：应为 1970-01-01 以来的毫秒数（13 位数字），且与服务器时间相差不超过 {seconds} 秒',
    'field time is invalid: expected milliseconds since 1970-01-01 (13 digits), within {seconds} s of the time of the service',
  ),
  smsAppNotFound: row(
    200,
    2009,
    '字段 app_key 无效：应为本账户某个短信服务的 app_key；实际为：{found}',
    "field app_key is invalid: expected the app_key of one of the account's SMS services; found {found}",
  ),
  smsAppDisabled: row(200, 2010, '短信服务已禁用', 'the SMS service is disabled'),
  smsContentInvalid: refusal(
    `字段 content 无效：应为以 UTF-8 做 URL 编码的 1 到 ${MAX_SMS_UNITS} 个字符的文本；而它{reason}`,
    `field content is invalid: expected text of 1 to ${MAX_SMS_UNITS} characters, URL-encoded as UTF-8, but it {reason}`,
  ),
  mobileInvalid: row(
    200,
    2015,
    '字段 mobile 无效：应为有效的手机号；而 {entry} {reason}',
    'field mobile is invalid: expected valid mobile numbers, but {entry} {reason}',
  ),
  balanceTooLow: row(200, 2011, '余额不足：本次需要 {price}', 'insufficient balance: this request costs {price}'),
  smsQueueFull: row(
    200,
    2010,
    '排队的请求过多，请稍后重试',
    'too many requests are waiting to be accepted; try again later',
  ),
  sendidNotFound: refusal('发送流水号 {sendid} 不存在', 'sendid {sendid} does not exist'),
  messageNotFound: refusal(
    '发送流水号 {sendid} 不存在，或没有号码 {number}',
    'sendid {sendid} does not exist, or has no number {number}',
  ),
  smsWebhookMissing: refusal(
    '短信服务 {appKey} 没有推送地址，或其密钥无法解密；请先设置',
    'the SMS service {appKey} has no webhook, or its secret cannot be opened; set one first',
  ),
  rechargeRefused: refusal(
    '字段 amount 无效：余额将小于 0 或过大',
    'field amount is invalid: the balance would be below 0 or too large',
  ),
  rechargeRepeated: refusal(
    '字段 reference 无效：该标识已用于另一笔金额 {amount}',
    'field reference is invalid: it was already used for another recharge, of {amount}',
  ),
  connectorNotFound: refusal('通道 {name} 不存在', 'connector {name} does not exist'),
  connectorInUse: refusal('通道 {name} 不能删除：{reason}', 'connector {name} cannot be deleted: {reason}'),
  smsRevisionChanged: refusal(
    '{what}已被修改：revision 现为 {revision}，不是 {given}，请重新查询后再修改',
    '{what} has changed: the revision is {revision}, not {given}; read it again before you change it',
  ),
  smsRouteNotFound: refusal('前缀 {prefix} 没有路由，无法删除', 'there is no route for the prefix {prefix}'),
  smsPriceNotFound: refusal(
    '前缀 {prefix} 没有 {kind} 的单价，无法删除',
    'the prefix {prefix} has no price for {kind} messages',
  ),
} as const;
