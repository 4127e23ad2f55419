/** What operators set of a connector, and are shown of it. */
import * as z from 'zod';
import { RESULT_CLASSES } from '../../model/sms-connector.ts';
import {
  choice,
  clearable,
  commaList,
  FLAG_TEXT,
  flag,
  integer,
  longText,
  optional,
  signedInteger,
  text,
} from '../schema/fields.ts';

const MAX_CA_BYTES = 64 * 1024;

const authority = {
  ...longText(MAX_CA_BYTES),
  kind: 'pem' as const,
  expects: {
    'zh-CN': `签发运营商证书的 CA 证书（PEM），至多 ${MAX_CA_BYTES} 字节，或空（公共机构）`,
    en: `the certificate (PEM) of the carrier's certificate authority, at most ${MAX_CA_BYTES} bytes, or empty for the public authorities`,
  },
};
const host = {
  ...text({ min: 1, max: 253 }),
  schema: text({ min: 1, max: 253 }).schema.refine(isHost),
  expects: { 'zh-CN': '运营商的域名或 IP 地址', en: 'the host name or IP address of the carrier' },
};

const addressType = {
  schema: text({ max: 7 }).schema.refine(
    (value) => /^(\d{1,3},\d{1,3})?$/.test(value) && value.split(',').every(isOctet),
  ),
  kind: 'text' as const,
  expects: {
    'zh-CN': 'TON 和 NPI，如 5,0，各为 0 到 255；或空：由号码的写法决定',
    en: 'TON and NPI, such as 5,0, each from 0 to 255; or empty: derived from the form of the address',
  },
  json: { type: 'string', pattern: '^([0-9]{1,3},[0-9]{1,3})?$' },
};

/** Why a message did not arrive, as the words of a carrier's table say. docs/decisions/0468 */
export const WORD_GROUPS = [
  ...['absent', 'suspended', 'off', 'full', 'blacklist', 'content', 'signature', 'frequency', 'optout', 'route'],
  ...['ported', 'carrier', 'other'],
] as const;
const MAX_STATUS_WORDS = 500;
export const MAX_STATUS_WORD_LENGTH = 40;
export const WORD_STATE_NAMES = ['delivered', 'failed', 'expired', 'unknown', 'on_the_way'] as const;
export const MAX_STATUS_TEXT_LENGTH = 60;
/** A word has no comma, blank or equals sign; `*` stands at its end only. A text has no comma and no `|`. */
const STATUS_TEXT = `[^|,\\p{Cc}]{0,${MAX_STATUS_TEXT_LENGTH}}`;
const STATUS_WORD = new RegExp(
  `^([!-)+\\-.-<>-~]{1,${MAX_STATUS_WORD_LENGTH - 1}}\\*?)=(${WORD_STATE_NAMES.join('|')})` +
    `(\\|(${WORD_GROUPS.join('|')})?(\\|${STATUS_TEXT}){0,2})?$`,
  'u',
);
const statusWordList = commaList({
  maxEntries: MAX_STATUS_WORDS,
  maxLength: MAX_STATUS_WORD_LENGTH + 30 + 2 * MAX_STATUS_TEXT_LENGTH,
  expects: {
    'zh-CN': `“状态词=结果”的数组，或以逗号分隔的文本，至多 ${MAX_STATUS_WORDS} 个；空：没有自己的状态词`,
    en: `an array of word=state, or a comma-separated text, at most ${MAX_STATUS_WORDS}; empty: no words of its own`,
  },
  each: {
    'zh-CN': `状态词（至多 ${MAX_STATUS_WORD_LENGTH} 个 ASCII 字符，末尾可有 *）、= 和 ${WORD_STATE_NAMES.join('、')} 之一，如 MK:0012=failed；其后可加 |原因|中文说明|英文说明，原因为 ${WORD_GROUPS.join('、')} 之一，说明至多 ${MAX_STATUS_TEXT_LENGTH} 个字符`,
    en: `a word of at most ${MAX_STATUS_WORD_LENGTH} ASCII characters, optionally with * at its end, then = and one of ${WORD_STATE_NAMES.join(', ')}, such as MK:0012=failed; behind it |group|text in Chinese|text in English may follow, the group one of ${WORD_GROUPS.join(', ')}, each text of at most ${MAX_STATUS_TEXT_LENGTH} characters`,
  },
});
const statusWords = {
  ...statusWordList,
  schema: statusWordList.schema.superRefine((entries, context) => {
    for (const [n, entry] of entries.entries())
      if (!STATUS_WORD.test(entry)) context.addIssue({ code: 'custom', path: [n] });
  }),
};

const MAX_RESULTS = 200;
/** 0 is no refusal. */
const RESULT = new RegExp(`^([1-9]\\d{0,9})=(${RESULT_CLASSES.join('|')})$`);
const resultList = commaList({
  maxEntries: MAX_RESULTS,
  maxLength: 30,
  expects: {
    'zh-CN': `“结果=类别”的数组，或以逗号分隔的文本，至多 ${MAX_RESULTS} 个；空：按协议`,
    en: `an array of result=class, or a comma-separated text, at most ${MAX_RESULTS}; empty: by the protocol`,
  },
  each: {
    'zh-CN': `十进制结果码、= 和 ${RESULT_CLASSES.join('、')} 之一，如 23=throttled`,
    en: `a decimal result, = and one of ${RESULT_CLASSES.join(', ')}, such as 23=throttled`,
  },
});
const results = {
  ...resultList,
  schema: resultList.schema.superRefine((entries, context) => {
    for (const [n, entry] of entries.entries())
      if (!RESULT.test(entry)) context.addIssue({ code: 'custom', path: [n] });
  }),
};

/** The node number of SGIP has four octets. */
const MAX_NODE = 0xffffffff;
const listenBase = text({ min: 1, max: 60 });
const listenAddress = {
  ...listenBase,
  expects: {
    'zh-CN': '监听地址和端口，如 0.0.0.0:8801、[::]:8801',
    en: 'an address and a port to listen on, such as 0.0.0.0:8801 or [::]:8801',
  },
  schema: listenBase.schema.refine((it) => /^(?:\[[\da-f:.]+\]|\d+(?:\.\d+){3}):[1-9]\d{0,4}$/i.test(it)),
};
const MAX_ALLOWED = 50;
const allowed = commaList({
  maxEntries: MAX_ALLOWED,
  maxLength: 50,
  expects: {
    'zh-CN': `1 到 ${MAX_ALLOWED} 个 IP 或网段（如 192.0.2.0/24），用逗号分隔或为数组`,
    en: `1 to ${MAX_ALLOWED} IP addresses or networks such as 192.0.2.0/24, comma-separated or an array`,
  },
  each: {
    'zh-CN': 'IP 或网段，如 192.0.2.1、192.0.2.0/24、2001:db8::/32',
    en: 'an IP address or a network, such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32',
  },
});

/** Values of the fields that are one of a few words. */
export const CONNECTOR_CHOICES = {
  kind: ['smpp', 'cmpp2', 'cmpp3', 'smgp', 'sgip', 'loopback'],
  bind: ['transceiver', 'pair'],
  interface_version: ['33', '34', '50'],
  registered_delivery: ['0', '1', '2'],
  concatenation: ['udh', 'sar'],
  receipt_ids: ['auto', 'same', 'hex', 'decimal'],
  receipt_number: ['check', 'ignore'],
  unknown_after: ['charge', 'refund'],
  receipts: ['all', 'failures', 'none'],
  coding: ['ucs2', 'gb18030', 'auto'],
  udhi_value: ['1', '64'],
  number_form: ['bare', '86', 'plus86'],
  again: ['silence', 'busy'],
  pk: ['parts', 'one'],
  account_padding: ['none', '6'],
} as const;

/** Fields of a connector. An omitted field keeps its value, or has its default if the connector is new. */
export const CONNECTOR_FIELDS = {
  kind: optional(
    choice(CONNECTOR_CHOICES.kind, {
      'zh-CN': 'smpp（默认）、cmpp2、cmpp3、smgp、sgip 或 loopback',
      en: 'smpp (the default), cmpp2, cmpp3, smgp, sgip or loopback',
    }),
  ),
  enabled: optional(flag),
  rate: optional(integer(0, 1_000_000)),
  host: optional(host),
  port: optional(integer(1, 65_535)),
  tls: optional(flag),
  tls_ca: clearable(authority),
  tls_server_name: clearable({ ...host, schema: text({ max: 253 }).schema.refine(isHost) }),
  bind: optional(
    choice(CONNECTOR_CHOICES.bind, {
      'zh-CN': 'transceiver（收发合一）或 pair（收发两个连接）',
      en: 'transceiver, or pair for a transmitter and a receiver',
    }),
  ),
  system_id: optional(plainText({ min: 1, max: 15 })),
  password: clearable({ ...plainText({ max: 15 }), isSecret: true as const }),
  system_type: clearable(plainText({ max: 12 })),
  interface_version: optional(
    choice(CONNECTOR_CHOICES.interface_version, {
      'zh-CN': 'SMPP 版本：33、34 或 50（十六进制）；33 不带可选参数',
      en: 'the SMPP version in hexadecimal: 33, 34 or 50; with 33 no optional parameter is sent',
    }),
  ),
  sender: clearable(plainText({ max: 20 })),
  sender_type: clearable(addressType),
  destination_type: clearable(addressType),
  window: optional(integer(1, 1000)),
  sessions: optional(integer(1, 16)),
  bind_seconds: optional(integer(1, 600)),
  enquire_seconds: optional(integer(1, 3600)),
  response_seconds: optional(integer(1, 600)),
  registered_delivery: optional(
    choice(CONNECTOR_CHOICES.registered_delivery, {
      'zh-CN': '要求的回执：0（不要）、1（所有结果）或 2（仅失败）',
      en: 'requested receipts: 0 (none), 1 (of every outcome) or 2 (of failures)',
    }),
  ),
  concatenation: optional(choice(CONNECTOR_CHOICES.concatenation, { 'zh-CN': 'udh 或 sar', en: 'udh or sar' })),
  gsm7: optional(flag),
  receipt_ids: optional(
    choice(CONNECTOR_CHOICES.receipt_ids, {
      'zh-CN': '回执中的标识与应答的关系：auto、same、hex 或 decimal',
      en: 'how receipts write the id of the answer: auto, same, hex or decimal',
    }),
  ),
  receipt_zone_minutes: optional(
    signedInteger(-840, 840, { 'zh-CN': '-840 到 840 的整数', en: 'an integer from -840 to 840' }),
  ),
  unmarked_receipts: optional(flag),
  status_words: clearable(statusWords),
  receipt_number: optional(
    choice(CONNECTOR_CHOICES.receipt_number, {
      'zh-CN': 'check（回执只匹配发往该号码的短信）或 ignore（运营商改写号码）',
      en: 'check (a receipt is matched only with messages to its number) or ignore (the carrier rewrites numbers)',
    }),
  ),
  unknown_after: optional(
    choice(CONNECTOR_CHOICES.unknown_after, {
      'zh-CN': 'charge（计费）或 refund（退还），适用于始终没有应答和回执的短信',
      en: 'charge or refund, for parts that got neither an answer nor a receipt',
    }),
  ),
  account: optional(plainText({ min: 1, max: 16 })),
  corp_id: clearable(plainText({ max: 8 })),
  service_id: clearable(plainText({ max: 10 })),
  // 3 would name a number that pays; there is none.
  fee_user_type: optional(integer(0, 2)),
  fee_type: optional(plainText({ min: 1, max: 2 })),
  fee_code: optional(plainText({ min: 1, max: 6 })),
  receipts: optional(
    choice(CONNECTOR_CHOICES.receipts, {
      'zh-CN': 'all（要求回执）、none（不要），或 SGIP 的 failures（仅失败）',
      en: 'all (requested), none, or with SGIP failures',
    }),
  ),
  coding: optional(
    choice(CONNECTOR_CHOICES.coding, {
      'zh-CN': 'ucs2、gb18030 或 auto（装得下时用 GB18030）',
      en: 'ucs2, gb18030, or auto (GB18030 where each part of a message fits)',
    }),
  ),
  udhi_value: optional(choice(CONNECTOR_CHOICES.udhi_value, { 'zh-CN': '1 或 64', en: '1 or 64' })),
  number_form: optional(
    choice(CONNECTOR_CHOICES.number_form, {
      'zh-CN': 'bare（不带国家码）、86 或 plus86（+86）',
      en: 'bare (without the country code), 86, or plus86 for +86',
    }),
  ),
  results: clearable(results),
  again: optional(
    choice(CONNECTOR_CHOICES.again, {
      'zh-CN': 'silence（不应答）或 busy（应答“忙”），适用于无法保存的回执和上行',
      en: 'silence or busy, the answer to what cannot be stored',
    }),
  ),
  connections: optional(integer(1, 64)),
  pk: optional(
    choice(CONNECTOR_CHOICES.pk, {
      'zh-CN': 'parts（Pk_total 和 Pk_number 为实际条数）或 one（均为 1）',
      en: 'parts (Pk_total and Pk_number as they are) or one (both are 1)',
    }),
  ),
  account_padding: optional(
    choice(CONNECTOR_CHOICES.account_padding, {
      'zh-CN': 'none，或 6（计算摘要前把账号补足 6 字节）',
      en: 'none, or 6 to fill the account up to 6 octets before the digest is made',
    }),
  ),
  node: optional(integer(1, MAX_NODE)),
  listen: optional(listenAddress),
  allow: optional(allowed),
  gateway_account: clearable(plainText({ max: 16 })),
};

type FieldName = keyof typeof CONNECTOR_FIELDS;

const FIELDS_OF_ALL: readonly FieldName[] = ['kind', 'enabled', 'rate'];
const FIELDS_OF_CARRIERS: readonly FieldName[] = [
  ...FIELDS_OF_ALL,
  ...(['host', 'port', 'tls', 'tls_ca', 'tls_server_name', 'password', 'sender', 'window', 'sessions'] as const),
  ...(['bind_seconds', 'enquire_seconds', 'response_seconds'] as const),
  ...(['status_words', 'receipt_number', 'unknown_after'] as const),
];
const FIELDS_OF_GATEWAYS: readonly FieldName[] = [
  ...FIELDS_OF_CARRIERS,
  ...(['account', 'corp_id', 'service_id', 'fee_type', 'fee_code', 'receipts', 'coding'] as const),
  ...(['udhi_value', 'number_form', 'results', 'again', 'connections'] as const),
];
const FIELDS_OF_CMPP: readonly FieldName[] = [...FIELDS_OF_GATEWAYS, 'fee_user_type', 'pk', 'account_padding'];

/** The fields that a connector of each kind has. */
export const FIELDS_OF_KINDS: Readonly<Record<(typeof CONNECTOR_CHOICES.kind)[number], readonly FieldName[]>> = {
  loopback: FIELDS_OF_ALL,
  smpp: [
    ...FIELDS_OF_CARRIERS,
    ...(['bind', 'system_id', 'system_type', 'interface_version', 'sender_type', 'destination_type'] as const),
    ...(['registered_delivery', 'concatenation', 'gsm7'] as const),
    ...(['receipt_ids', 'receipt_zone_minutes', 'unmarked_receipts'] as const),
  ],
  cmpp2: FIELDS_OF_CMPP,
  cmpp3: FIELDS_OF_CMPP,
  smgp: FIELDS_OF_GATEWAYS,
  // One control has the listener, and the protocol asks for no sign of life.
  sgip: [
    ...FIELDS_OF_GATEWAYS.filter((name) => name !== 'sessions' && name !== 'enquire_seconds'),
    ...(['node', 'listen', 'allow', 'gateway_account'] as const),
  ],
};

export const CONNECTOR_DATA = z.object({
  name: z.string(),
  kind: z.enum(CONNECTOR_CHOICES.kind),
  enabled: FLAG_TEXT,
  rate: z.int().describe('parts per second; 0: as fast as the carrier answers'),
  host: z.string().optional(),
  port: z.int().optional(),
  tls: FLAG_TEXT.optional(),
  tls_server_name: z.string().optional(),
  bind: z.enum(CONNECTOR_CHOICES.bind).optional(),
  system_id: z.string().optional(),
  system_type: z.string().optional(),
  interface_version: z.enum(CONNECTOR_CHOICES.interface_version).optional(),
  sender: z.string().optional(),
  sender_type: z.string().optional(),
  destination_type: z.string().optional(),
  window: z.int().optional(),
  sessions: z
    .int()
    .optional()
    .describe(
      'sessions that the carrier allows, each at another control; they share the rate, and with SMPP the window',
    ),
  bind_seconds: z.int().optional(),
  enquire_seconds: z.int().optional(),
  response_seconds: z.int().optional(),
  registered_delivery: z.enum(CONNECTOR_CHOICES.registered_delivery).optional(),
  concatenation: z.enum(CONNECTOR_CHOICES.concatenation).optional(),
  gsm7: FLAG_TEXT.optional(),
  receipt_ids: z.enum(CONNECTOR_CHOICES.receipt_ids).optional(),
  receipt_zone_minutes: z.int().optional(),
  unmarked_receipts: FLAG_TEXT.optional(),
  status_words: z
    .array(z.string())
    .optional()
    .describe("word=state, or word=state|group|text|text: the meaning of status words in this carrier's receipts"),
  receipt_number: z.enum(CONNECTOR_CHOICES.receipt_number).optional(),
  unknown_after: z.enum(CONNECTOR_CHOICES.unknown_after).optional(),
  account: z.string().optional(),
  corp_id: z.string().optional().describe('code of the enterprise; empty: the account'),
  service_id: z.string().optional(),
  fee_user_type: z.int().optional(),
  fee_type: z.string().optional(),
  fee_code: z.string().optional(),
  receipts: z.enum(CONNECTOR_CHOICES.receipts).optional(),
  coding: z.enum(CONNECTOR_CHOICES.coding).optional(),
  udhi_value: z.enum(CONNECTOR_CHOICES.udhi_value).optional(),
  number_form: z.enum(CONNECTOR_CHOICES.number_form).optional(),
  results: z.array(z.string()).optional().describe("result=class: the meaning of this gateway's own results"),
  again: z.enum(CONNECTOR_CHOICES.again).optional(),
  connections: z.int().optional().describe('connections of each session'),
  pk: z.enum(CONNECTOR_CHOICES.pk).optional(),
  account_padding: z.enum(CONNECTOR_CHOICES.account_padding).optional(),
  node: z.int().optional(),
  listen: z.string().optional().describe('where the gateway reaches the service'),
  allow: z.array(z.string()).optional().describe('addresses and networks that the gateway connects from'),
  gateway_account: z.string().optional().describe('name that the gateway gives; empty: the account'),
});

/** What a text of these protocols can have. */
function plainText({ min = 0, max }: { readonly min?: number; readonly max: number }) {
  const base = text({ min, max });
  return {
    ...base,
    schema: base.schema.refine((value) => /^[\x20-\x7e]*$/.test(value)),
    expects: {
      'zh-CN': `${min} 到 ${max} 个可打印的 ASCII 字符`,
      en: `${min} to ${max} printable ASCII characters`,
    },
  };
}

function isOctet(digits: string): boolean {
  return Number(digits) <= 255;
}

/** Checks the form only; the address is checked when it is connected to. */
function isHost(value: string): boolean {
  return /^[\w.:%-]*$/.test(value);
}
