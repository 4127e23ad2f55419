/**
 * The kinds of request fields: what is accepted on the wire, what it becomes, and how an error describes it. A number is
 * accepted where a text is documented and the reverse (the interface document's samples do both).
 */
import * as z from 'zod';
import { MAX_ID, MAX_ORIGINS } from '../../model/limits.ts';
import type { Localized } from './locale.ts';

/** What a form shows for a field. */
type FieldKind =
  | 'switch'
  | 'choice'
  /** Several of `values`. */
  | 'choices'
  | 'integer'
  /** A duration in seconds. */
  | 'seconds'
  | 'text'
  | 'url'
  /** Entries of an array, or one per line. */
  | 'lines'
  /** Entries of an array, or with commas between them. */
  | 'list'
  /** A long text of several lines, such as HTML. */
  | 'page'
  | 'pem'
  | 'secret'
  /** An array of objects with `members`. */
  | 'objects'
  /** Settings by topic. */
  | 'settings';

export interface Field<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  readonly kind: FieldKind;
  /** Values that a choice offers, in the order in which they are shown. */
  readonly values?: readonly string[];
  /** Completes the sentence "field x: expected …". */
  readonly expects: Localized;
  /** The JSON Schema of the field where Zod cannot derive all of it. */
  readonly json?: Readonly<Record<string, unknown>>;
  /** Members of each object in an array of objects, so that an error can name one. */
  readonly members?: Fields;
  /** Expectation for each entry of a list. */
  readonly each?: Localized;
  /** Separator of the entries in a list that is sent as one text. */
  readonly separator?: Separator;
  /** Not shown in an error, not even in part. */
  readonly isSecret?: true;
  /** An empty text is the same as an absent field. docs/decisions/0445 */
  readonly isEmptyAbsent?: true;
}

type Separator = '\n' | ',';

export type Fields = Readonly<Record<string, Field>>;

/** A host of 253 characters, brackets and a port, with room for spaces around it. */
const MAX_ORIGIN_LENGTH = 300;
const MAX_URL_LENGTH = 1024;

/** End of the year 9999 where it ends first, at UTC+14: times are shown with four digits of the year. */
export const MAX_UNIX_SECONDS = 253_402_250_399;

const UTF8 = new TextEncoder();

/** A text, or a number as its text. */
const SCALAR_TEXT = z.union([z.string(), z.number().transform(String)]);

/** A switch: "0"/"1" or 0/1 in, always "0"/"1" out. `true` and `false` are refused: they are not of the interface. */
export const flag = {
  schema: z.codec(z.literal(['0', '1', 0, 1]), z.boolean(), {
    decode: (wire) => wire === '1' || wire === 1,
    encode: (value) => (value ? '1' : '0'),
  }),
  kind: 'switch',
  expects: { 'zh-CN': '0（关闭）或 1（开启）', en: '0 (off) or 1 (on)' },
} satisfies Field;

/** A switch in an answer. */
export const FLAG_TEXT = z.enum(['0', '1']);

/** What an access token may look like on the wire; whether it is known is another question. */
export const accessToken = { ...text({ min: 1, max: 512 }), isSecret: true } satisfies Field;

/** A Unix time in seconds, or with 13 digits in milliseconds; an integer or its decimal text. Becomes epoch milliseconds. */
export const unixTime = {
  schema: SCALAR_TEXT.pipe(z.string().regex(/^(\d{1,10}|\d{13})$/)).transform((digits) =>
    digits.length === 13 ? Number(digits) : Number(digits) * 1000,
  ),
  kind: 'integer',
  expects: {
    'zh-CN': 'Unix 时间：至多 10 位数字为秒，13 位数字为毫秒',
    en: 'a Unix time: up to 10 digits are seconds, 13 digits are milliseconds',
  },
  json: {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: '^([0-9]{1,10}|[0-9]{13})$' },
    ],
  },
} satisfies Field;

/** Any text at all: what it has to be is checked later, in an order of its own. */
export function anyText(expects: Localized) {
  return { schema: SCALAR_TEXT, kind: 'text', expects, json: { type: ['string', 'number'] } } satisfies Field;
}

/** An integer that may be below 0, or its decimal text. */
export function signedInteger(min: number, max: number, expects: Localized) {
  return {
    schema: z
      .union([z.string().regex(/^(0|-?[1-9]\d{0,14})$/), z.int()])
      .transform(Number)
      .pipe(z.int().min(min).max(max)),
    kind: 'integer',
    expects,
    json: {
      anyOf: [
        { type: 'integer', minimum: min, maximum: max },
        { type: 'string', pattern: '^(0|-?[1-9][0-9]*)$' },
      ],
    },
  } satisfies Field;
}

/** An integer or its decimal text. */
export const identifier = integer(1, MAX_ID);

export function integer(min: number, max: number) {
  return {
    schema: z
      .union([z.string().regex(/^(0|[1-9]\d{0,14})$/), z.int()])
      .transform(Number)
      .pipe(z.int().min(min).max(max)),
    kind: 'integer',
    expects: { 'zh-CN': `${min} 到 ${max} 的整数`, en: `an integer from ${min} to ${max}` },
    json: {
      anyOf: [
        { type: 'integer', minimum: min, maximum: max },
        { type: 'string', pattern: '^(0|[1-9][0-9]*)$' },
      ],
    },
  } satisfies Field;
}

/**
 * Text of `min` to `max` characters (UTF-16 code units). NUL and lone surrogates are refused: no database keeps them as
 * they are.
 */
export function text({ min = 0, max }: { readonly min?: number; readonly max: number }) {
  return {
    schema: SCALAR_TEXT.pipe(z.string().min(min).max(max).refine(isStorable)),
    kind: 'text',
    expects: {
      'zh-CN': `${min} 到 ${max} 个字符的文本，不含空字符（NUL）和不成对的代理码`,
      en: `text of ${min} to ${max} characters, without NUL and unpaired surrogates`,
    },
    json: { type: ['string', 'number'], minLength: min, maxLength: max },
  } satisfies Field;
}

/** Text that `pattern` matches as a whole. The pattern bounds its length. */
export function matching(pattern: RegExp, expects: Localized) {
  return {
    schema: SCALAR_TEXT.pipe(z.string().regex(pattern)),
    kind: 'text',
    expects,
    json: { type: ['string', 'number'], pattern: pattern.source },
  } satisfies Field;
}

/** Text of at most `maxBytes` in UTF-8. */
export function longText(maxBytes: number) {
  return {
    schema: SCALAR_TEXT.pipe(z.string().refine((value) => isStorable(value) && UTF8.encode(value).length <= maxBytes)),
    kind: 'page',
    expects: {
      'zh-CN': `至多 ${maxBytes} 字节（UTF-8）的文本，不含空字符（NUL）和不成对的代理码`,
      en: `text of at most ${maxBytes} bytes in UTF-8, without NUL and unpaired surrogates`,
    },
    json: { type: ['string', 'number'], maxLength: maxBytes },
  } satisfies Field;
}

/** One of `values`; a number is accepted where its text is one of them. `described` says what each means. */
export function choice<const V extends readonly [string, ...string[]]>(values: V, described: Localized) {
  const numbers = values.map(Number).filter((number) => values.includes(String(number)));
  const schema = z
    .literal<(string | number)[]>([...values, ...numbers])
    .transform(String)
    .pipe(z.enum(values));
  // `as`: zod's own type of an enumeration of `V` does not compile in declarations.
  return {
    schema: schema as unknown as z.ZodType<V[number], string | number>,
    kind: 'choice',
    values,
    expects: described,
  } satisfies Field;
}

/** Several of `values`, at least one, as an array; repeated ones count once. */
export function choices<const V extends readonly [string, ...string[]]>(values: V, described: Localized) {
  const schema = z
    .array(z.enum(values))
    .min(1)
    .max(20)
    .transform((given) => [...new Set(given)]);
  return {
    // `as`: see `choice`.
    schema: schema as unknown as z.ZodType<V[number][], V[number][]>,
    kind: 'choices',
    values,
    expects: described,
    each: { 'zh-CN': values.join('、'), en: `one of ${values.join(', ')}` },
    json: { type: 'array', items: { enum: values }, minItems: 1 },
  } satisfies Field;
}

/** An http or https URL, or empty for none. It is kept as it was written, and bounded as it is sent: percent-encoded. */
export const optionalHttpUrl = {
  schema: SCALAR_TEXT.pipe(z.string().max(MAX_URL_LENGTH).refine(isHttpUrlOrEmpty)),
  kind: 'url',
  expects: {
    'zh-CN': `以 http:// 或 https:// 开头的网址，不含用户名，百分号编码后至多 ${MAX_URL_LENGTH} 个字符，或空`,
    en: `a URL that begins with http:// or https://, without a user name, at most ${MAX_URL_LENGTH} characters when percent-encoded, or empty`,
  },
  json: { type: 'string', maxLength: MAX_URL_LENGTH },
} satisfies Field;

/**
 * Origin addresses: an array, or one text with an address per line (LF or CRLF). Blank entries are dropped, so `""`, `[]`
 * and `[""]` are all the empty list. Whether an entry is an address is for `model/origin.ts` to say.
 */
export const originList = lines({
  maxEntries: MAX_ORIGINS,
  maxLength: MAX_ORIGIN_LENGTH,
  expects: {
    'zh-CN': `源站地址的数组，或每行一个地址的文本，至多 ${MAX_ORIGINS} 个；地址为域名、域名:端口、IP、IP:端口或 [IPv6]:端口`,
    en: `an array of origin addresses, or a text with one per line, at most ${MAX_ORIGINS}; an address is host, host:port, IP, IP:port or [IPv6]:port`,
  },
  each: {
    'zh-CN': '域名、域名:端口、IP、IP:端口或 [IPv6]:端口',
    en: 'host, host:port, IP, IP:port or [IPv6]:port',
  },
});

interface ListRules {
  readonly maxEntries: number;
  readonly maxLength: number;
  readonly expects: Localized;
  readonly each: Localized;
}

/** Several short texts: an array, or one text with an entry per line (LF or CRLF). Blank entries are dropped. */
export function lines(rules: ListRules) {
  return list('\n', rules);
}

/** Several short texts: an array, or one text with commas between them, so none can have one. Blank entries are dropped. */
export function commaList(rules: ListRules) {
  return list(',', rules);
}

function list(separator: Separator, { maxEntries, maxLength, expects, each }: ListRules) {
  const entry = SCALAR_TEXT.transform((written) => written.trim()).pipe(
    z
      .string()
      .max(maxLength)
      .refine((text) => isStorable(text) && !text.includes(separator)),
  );
  return {
    schema: z.preprocess(
      // Of a list that is too long one entry too many is kept: enough to refuse it without looking at all of it.
      (value) => listEntries(value, separator)?.slice(0, maxEntries + 1) ?? value,
      z.array(entry).max(maxEntries),
    ),
    kind: separator === ',' ? 'list' : 'lines',
    expects,
    each,
    separator,
    json: {
      anyOf: [{ type: 'array', items: { type: 'string', maxLength }, maxItems: maxEntries }, { type: 'string' }],
    },
  } satisfies Field;
}

/** Parameters of an issue about the name at the end of its path, not about its value. */
export const UNKNOWN_NAME = { isUnknownName: true };

/** The field may be absent; `null` and an empty text are the same as absent. docs/decisions/0445 */
export function optional<S extends z.ZodType>(field: Field<S>) {
  return { ...field, schema: field.schema.optional(), isEmptyAbsent: true as const } satisfies Field;
}

/** The field may be absent, which keeps what is stored; an empty text clears it, or sets it back to its default. */
export function clearable<S extends z.ZodType>(field: Field<S>) {
  return { ...field, schema: field.schema.optional() } satisfies Field;
}

/** The non-blank entries of a list as sent; `undefined` if the value is not a list. */
export function listEntries(value: unknown, separator: Separator): readonly unknown[] | undefined {
  const entries = typeof value === 'string' || typeof value === 'number' ? String(value).split(separator) : value;
  if (!Array.isArray(entries)) return undefined;
  return entries.filter((entry) => typeof entry !== 'string' || entry.trim() !== '');
}

function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

function isHttpUrlOrEmpty(value: string): boolean {
  if (value === '') return true;
  if (!HTTP_URL.test(value) || /\s/.test(value)) return false;
  return (URL.parse(value)?.href.length ?? Number.POSITIVE_INFINITY) <= MAX_URL_LENGTH;
}

/**
 * A URL with a host and without a user name, not even an empty one. Stricter than a parser about where the host begins
 * and ends.
 */
const HTTP_URL = /^https?:\/\/[^\p{C}/\\?#@]+(?:[/?#]\P{C}*)?$/iu;

export const seconds = z.int().describe('Unix seconds; 0: none');
