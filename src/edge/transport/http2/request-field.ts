/** A request field of HTTP/2: whether it is valid, and what it means. RFC 9113 §8.2, §8.3. Pure. */
import { FieldKind, KNOWN_FIELDS, type KnownField } from '../../shortcuts/plain-fields.ts';

export const Http2FieldKind = {
  ...FieldKind,
  other: 20,
  cookie: 21,
  method: 22,
  scheme: 23,
  authority: 24,
  path: 25,
} as const;
export type Http2FieldKind = (typeof Http2FieldKind)[keyof typeof Http2FieldKind];

export interface RequestField {
  readonly name: string;
  readonly value: string;
  readonly isValid: boolean;
  readonly isPseudo: boolean;
  readonly kind: Http2FieldKind;
  /** A bit of its own if the field must not repeat; otherwise 0. */
  readonly bit: number;
}

export function makeRequestField(name: string, value: string): RequestField {
  const pseudo = PSEUDO.get(name);
  if (pseudo !== undefined) {
    const [kind, pattern, bit] = pseudo;
    return { name, value, isValid: pattern.test(value), isPseudo: true, kind, bit };
  }
  const { kind, bit } = KNOWN.get(name) ?? OTHER;
  const isValid = NAME.test(name) && VALUE.test(value) && MEANINGLESS.get(name)?.test(value) !== true;
  return { name, value, isValid, isPseudo: false, kind, bit };
}

/** No line ends or other controls, and no blank at the beginning or end. */
const VALUE = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/;
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

type Pseudo = readonly [kind: Http2FieldKind, value: RegExp, bit: number];

/** Pseudo-header fields. Their bits are beyond those of `KNOWN_FIELDS`. */
const PSEUDO: ReadonlyMap<string, Pseudo> = new Map([
  [':method', [Http2FieldKind.method, /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 1 << 27]],
  [':scheme', [Http2FieldKind.scheme, /^[A-Za-z][A-Za-z0-9+.-]*$/, 1 << 28]],
  [':authority', [Http2FieldKind.authority, /^[!-~\x80-\xff]+$/, 1 << 29]],
  [':path', [Http2FieldKind.path, /^[!-~\x80-\xff]+$/, 1 << 30]],
]);

const OTHER = { kind: Http2FieldKind.other, bit: 0 } as const;

const KNOWN: ReadonlyMap<string, { readonly kind: Http2FieldKind; readonly bit: number }> = new Map<
  string,
  Pick<KnownField, 'bit'> & { readonly kind: Http2FieldKind }
>([...KNOWN_FIELDS.map((field) => [field.name, field] as const), ['cookie', { kind: Http2FieldKind.cookie, bit: 0 }]]);

/** Values that are not allowed: connection-specific fields, and malformed values. §8.2.2 */
const MEANINGLESS: ReadonlyMap<string, RegExp> = new Map([
  ['connection', /^/],
  ['proxy-connection', /^/],
  ['keep-alive', /^/],
  ['transfer-encoding', /^/],
  ['upgrade', /^/],
  ['te', /^(?!trailers$)/i],
  ['content-length', /^(?!\d{1,15}$)/],
]);
