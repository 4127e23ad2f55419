/** What operators set of a connector, and are shown of it. */
import * as z from 'zod';
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

/** Values of the fields that are one of a few words. */
export const CONNECTOR_CHOICES = {
  kind: ['smpp', 'loopback'],
  bind: ['transceiver', 'pair'],
  interface_version: ['33', '34', '50'],
  registered_delivery: ['0', '1', '2'],
  concatenation: ['udh', 'sar'],
  receipt_ids: ['auto', 'same', 'hex', 'decimal'],
  receipt_number: ['check', 'ignore'],
  unknown_after: ['charge', 'refund'],
} as const;

/** Fields of a connector. An omitted field keeps its value, or has its default if the connector is new. */
export const CONNECTOR_FIELDS = {
  kind: optional(
    choice(CONNECTOR_CHOICES.kind, { 'zh-CN': 'smpp（默认）或 loopback', en: 'smpp (the default) or loopback' }),
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
    .describe('sessions that the carrier allows, each at another control; they share window and rate'),
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
});

/** What a text of SMPP can have. */
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
