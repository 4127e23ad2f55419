/** Words of the fields of connectors, routes and prices. A field of a connector without words does not compile. */
import { both, type SettingWords, words } from '#contract/changes/setting-words.ts';
import type { CONNECTOR_FIELDS } from '#contract/sms/sms-connector-fields.ts';

type ConnectorWords = { readonly [N in keyof typeof CONNECTOR_FIELDS]: SettingWords };

export const CONNECTOR_NAME = words('名称', 'Name', '创建后不能更改。', 'It cannot be changed later.');

export const CONNECTOR_WORDS = {
  kind: {
    ...words('类型', 'Kind'),
    values: {
      smpp: both('SMPP', 'SMPP'),
      cmpp2: both('CMPP 2.0（移动）', 'CMPP 2.0 (China Mobile)'),
      cmpp3: both('CMPP 3.0（移动）', 'CMPP 3.0 (China Mobile)'),
      smgp: both('SMGP 3.0（电信）', 'SMGP 3.0 (China Telecom)'),
      sgip: both('SGIP 1.2（联通）', 'SGIP 1.2 (China Unicom)'),
      loopback: both('模拟（不发送）', 'Simulation, which sends nothing'),
    },
  },
  enabled: words('启用', 'On'),
  host: words('主机', 'Host', '运营商的域名或 IP。', "The carrier's host name or address."),
  port: words('端口', 'Port'),
  tls: words('TLS', 'TLS', '与运营商的连接加密。', 'The connection to the carrier is encrypted.'),
  tls_ca: words(
    '运营商的 CA 证书',
    "The carrier's authority",
    'PEM；为空则使用公共机构，不显示已保存的内容。',
    'PEM; empty: the public authorities. What is stored is not shown.',
  ),
  tls_server_name: words('TLS 名称', 'TLS name', '为空则为主机名。', 'Empty: that of the host.'),
  system_id: words('用户名（system_id）', 'System id'),
  password: words('密码', 'Password'),
  system_type: words('系统类型（system_type）', 'System type'),
  sender: words('发送方号码', 'Sender', '显示给收件人的号码或名称。', 'The number or name that recipients see.'),
  bind: {
    ...words('绑定方式', 'Bind'),
    values: {
      transceiver: both('收发合一', 'One connection both ways'),
      pair: both('收发两个连接', 'A transmitter and a receiver'),
    },
  },
  rate: words('速率上限', 'Rate limit', '每秒条数，0 为不限。', 'Parts a second; 0: not limited.'),
  window: words('窗口', 'Window', '等待应答的最多条数。', 'Parts that may await an answer.'),
  sessions: words('会话数', 'Sessions', '运营商允许的会话数。', 'How many the carrier allows.'),
  sender_type: words(
    '发送方 TON,NPI',
    'TON,NPI of the sender',
    '例如 5,0；为空则自动。',
    'Such as 5,0; empty: by its form.',
  ),
  destination_type: words(
    '接收方 TON,NPI',
    'TON,NPI of recipients',
    '例如 1,1；为空则自动。',
    'Such as 1,1; empty: by its form.',
  ),
  interface_version: {
    ...words('SMPP 版本', 'SMPP version'),
    values: { '33': both('3.3', '3.3'), '34': both('3.4', '3.4'), '50': both('5.0', '5.0') },
  },
  registered_delivery: {
    ...words('请求回执', 'Receipts'),
    values: {
      '0': both('不请求', 'none'),
      '1': both('所有结果', 'of every outcome'),
      '2': both('仅失败', 'of failures'),
    },
  },
  concatenation: {
    ...words('长短信', 'Long messages'),
    values: { udh: both('UDH', 'UDH'), sar: both('SAR 参数', 'SAR parameters') },
  },
  gsm7: words('GSM 7 位编码', 'GSM 7-bit', '能用时以 7 位编码发送。', 'Texts that fit are sent in it.'),
  receipt_ids: {
    ...words('回执中的标识', 'Ids in receipts'),
    values: {
      auto: both('自动识别', 'found out'),
      same: both('与应答相同', 'as in the answer'),
      hex: both('十六进制', 'hexadecimal'),
      decimal: both('十进制', 'decimal'),
    },
  },
  receipt_number: {
    ...words('回执中的号码', 'Number in receipts'),
    values: { check: both('必须一致', 'has to match'), ignore: both('忽略', 'is ignored') },
  },
  receipt_zone_minutes: words(
    '回执时区（分钟）',
    'Time zone of receipts, in minutes',
    '例如 480 为 UTC+8。',
    'Such as 480 for UTC+8.',
  ),
  unmarked_receipts: words(
    '未标记的回执',
    'Unmarked receipts',
    '没有回执标记但形如回执的内容按回执处理。',
    'What looks like a receipt is read as one though it is not marked.',
  ),
  status_words: words(
    '状态词',
    'Status words',
    '例如 MK:0012=failed，每项一个。',
    'The meaning of words in its receipts, such as MK:0012=failed.',
  ),
  unknown_after: {
    ...words('始终没有结果的短信', 'Parts without an outcome'),
    values: { charge: both('计费', 'are charged'), refund: both('退还', 'are refunded') },
  },
  account: words(
    '企业代码（登录账号）',
    'Account',
    'CMPP：SP_Id；SMGP：ClientID；SGIP：Login_Name。',
    'SP_Id of CMPP, ClientID of SMGP, Login_Name of SGIP.',
  ),
  corp_id: words('信源代码', "Enterprise's code", '为空则为登录账号。', 'Empty: the account.'),
  service_id: words('业务代码', 'Service code', '与运营商约定，可为空。', 'As agreed with the carrier; may be empty.'),
  fee_user_type: words('计费用户类型', 'Fee_UserType'),
  fee_type: words('资费类别', 'FeeType'),
  fee_code: words('资费代码', 'FeeCode'),
  receipts: {
    ...words('状态报告', 'Receipts'),
    values: {
      all: both('请求', 'are requested'),
      failures: both('仅失败（SGIP）', 'of failures (SGIP)'),
      none: both('不请求', 'are not requested'),
    },
  },
  coding: {
    ...words('编码', 'Alphabet'),
    values: {
      ucs2: both('UCS-2', 'UCS-2'),
      gb18030: both('GB18030', 'GB18030'),
      auto: both('装得下时用 GB18030', 'GB18030 where each part fits'),
    },
  },
  udhi_value: { ...words('TP_udhi', 'TP_udhi'), values: { '1': both('1', '1'), '64': both('64', '64') } },
  number_form: {
    ...words('号码形式', 'Form of numbers'),
    values: {
      bare: both('不带国家码', 'without the country code'),
      '86': both('86 开头', 'with 86'),
      plus86: both('+86 开头', 'with +86'),
    },
  },
  results: words(
    '结果码',
    'Results',
    '例如 23=throttled，每项一个。',
    "The meaning of the gateway's own results, such as 23=throttled.",
  ),
  again: {
    ...words('无法保存的回执和上行', 'What cannot be stored'),
    values: { silence: both('不应答', 'is not answered'), busy: both('应答“忙”', 'is answered as busy') },
  },
  connections: words('连接数', 'Connections', '每个会话的连接数。', 'Of each session.'),
  pk: {
    ...words('Pk_total 与 Pk_number', 'Pk_total and Pk_number'),
    values: { parts: both('实际条数', 'as they are'), one: both('均为 1', 'both 1') },
  },
  account_padding: {
    ...words('摘要中的账号', 'Account in the digest'),
    values: { none: both('原样', 'as it is'), '6': both('补足 6 字节', 'filled up to 6 octets') },
  },
  node: words('节点编号', 'Node number', '如 3010012345。', 'Such as 3010012345.'),
  listen: words(
    '监听地址',
    'Address to listen on',
    '网关由此送达状态报告和上行，如 0.0.0.0:8801。',
    'Where the gateway brings receipts and replies, such as 0.0.0.0:8801.',
  ),
  allow: words('网关的地址', 'Addresses of the gateway', 'IP 或网段，每项一个。', 'IP addresses or networks.'),
  gateway_account: words(
    '网关登录名',
    "Gateway's name",
    '为空则为登录账号；密码相同。',
    'Empty: the account. The password is the same.',
  ),
  bind_seconds: words('绑定时限', 'Time to bind'),
  enquire_seconds: words('探测间隔', 'Enquire link every'),
  response_seconds: words('应答时限', 'Time to answer'),
} as const satisfies ConnectorWords;

const PREFIX = words(
  '号码前缀',
  'Prefix of numbers',
  '例如 +852；为空则为其他所有号码。',
  'Such as +852; empty: all other numbers.',
);

export const ROUTE_WORDS = {
  prefix: PREFIX,
  connectors: words('通道', 'Connectors', '优先的在前。', 'The preferred first.'),
} satisfies Readonly<Record<string, SettingWords>>;

export const PRICE_WORDS = {
  kind: {
    ...words('类型', 'Kind'),
    values: { ordinary: both('普通', 'ordinary'), advertising: both('营销', 'advertising') },
  },
  prefix: PREFIX,
  price: words('单价', 'Price', '以最小货币单位计的整数。', 'An integer in the smallest unit of the currency.'),
} satisfies Readonly<Record<string, SettingWords>>;

export const OPT_OUT_WORDS = {
  mobile: words('手机号', 'Mobile numbers', '可粘贴多个。', 'Several can be pasted.'),
} satisfies Readonly<Record<string, SettingWords>>;
