/**
 * Classifies request fields by their effect on a prepared answer: one list for the readers of both HTTP versions. A
 * stage can only read fields that have a row here. docs/decisions/0270, 0274, 0415
 */
import type { RequestFieldName } from '#http/request-fields.ts';

export const FieldKind = {
  /** Announces a body, another protocol or an interim response. */
  notOurs: 0,
  /** May change the answer even if the response is stored, fresh and does not vary. */
  notPlain: 1,
  /** Does not change such an answer, but is refused if sent twice: the rest of `SINGLE_FIELDS` in http/request.ts. */
  once: 2,
  connection: 3,
  host: 4,
  // Readers return the values of these. A second line is refused, or would be joined to the first.
  userAgent: 5,
  referer: 6,
  acceptEncoding: 7,
  ifNoneMatch: 8,
  ifModifiedSince: 9,
  /** Does not change such an answer, however often it is sent. */
  harmless: 10,
} as const;
export type FieldKind = (typeof FieldKind)[keyof typeof FieldKind];

export interface KnownField {
  /** Name in lower case. */
  readonly name: string;
  readonly kind: FieldKind;
  /** A unique bit if the field must not be repeated, else 0. */
  readonly bit: number;
}

/** Kind of each field that a stage may read. A field without a row does not compile. docs/decisions/0274, 0415 */
const KINDS = {
  'content-length': FieldKind.notOurs,
  'transfer-encoding': FieldKind.notOurs,
  expect: FieldKind.notOurs,
  upgrade: FieldKind.notOurs,
  range: FieldKind.notPlain, // 206, 416
  'if-match': FieldKind.notPlain, // for the origin
  'if-unmodified-since': FieldKind.notPlain,
  'cache-control': FieldKind.notPlain, // how fresh the answer must be, and whether it may be coded
  pragma: FieldKind.notPlain,
  'cdn-loop': FieldKind.notPlain, // possibly a loop: 508
  'x-forwarded-for': FieldKind.notPlain, // from a trusted proxy: the client's address, and whether it used TLS
  'x-forwarded-proto': FieldKind.notPlain,
  authorization: FieldKind.once, // matters when a response is stored
  'if-range': FieldKind.once, // has no meaning without Range
  origin: FieldKind.once, // matters if the method is OPTIONS or the response varies
  'content-location': FieldKind.once,
  'content-range': FieldKind.once,
  'content-type': FieldKind.once,
  date: FieldKind.once,
  from: FieldKind.once,
  'max-forwards': FieldKind.once,
  'proxy-authorization': FieldKind.once,
  connection: FieldKind.connection,
  'proxy-connection': FieldKind.connection, // node:http's parser treats it the same
  host: FieldKind.host,
  'user-agent': FieldKind.userAgent,
  referer: FieldKind.referer,
  'accept-encoding': FieldKind.acceptEncoding,
  'if-none-match': FieldKind.ifNoneMatch,
  'if-modified-since': FieldKind.ifModifiedSince,
  'accept-language': FieldKind.harmless, // selects among variants, and responses that vary by it are not prepared
  'access-control-request-method': FieldKind.harmless, // matters if the method is OPTIONS
  'sec-websocket-key': FieldKind.harmless, // matters with Upgrade
  via: FieldKind.harmless, // grows on the way to an origin
} as const satisfies Record<RequestFieldName, FieldKind>;

/** Fields that matter for a plain request. No stage reads any other field. */
export const KNOWN_FIELDS: readonly KnownField[] = withBits(
  Object.entries<FieldKind>(KINDS).filter(([, kind]) => kind !== FieldKind.harmless),
);

function withBits(fields: readonly (readonly [string, FieldKind])[]): readonly KnownField[] {
  let next = 1;
  return fields.map(([name, kind]) => {
    if (kind === FieldKind.notOurs || kind === FieldKind.notPlain || kind === FieldKind.connection)
      return { name, kind, bit: 0 };
    const bit = next;
    next <<= 1;
    return { name, kind, bit };
  });
}
