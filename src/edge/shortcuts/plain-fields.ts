/**
 * What the fields of a request mean for an answer that is kept ready: one list for the readers of both versions. A stage can read no
 * field that has no row here. docs/decisions/0270, 0274, 0415
 */
import type { RequestFieldName } from '#http/request-fields.ts';

export const FieldKind = {
  /** A body, another protocol, or an answer before the answer. */
  notOurs: 0,
  /** May change the answer, though the response is stored and fresh and does not vary. */
  notPlain: 1,
  /** Changes no such answer, but twice it is refused: the rest of `SINGLE_FIELDS` in http/request.ts. */
  once: 2,
  connection: 3,
  host: 4,
  // Readers tell their values. A second line is refused, or would be joined to the first.
  userAgent: 5,
  referer: 6,
  acceptEncoding: 7,
  ifNoneMatch: 8,
  ifModifiedSince: 9,
  /** Changes no such answer, however often it comes. */
  harmless: 10,
} as const;
export type FieldKind = (typeof FieldKind)[keyof typeof FieldKind];

export interface KnownField {
  /** The name in lower case. */
  readonly name: string;
  readonly kind: FieldKind;
  /** A bit of its own if the field must not come twice, else 0. */
  readonly bit: number;
}

/** What each field that may be read at all means; a field without a row does not compile. docs/decisions/0274, 0415 */
const KINDS = {
  'content-length': FieldKind.notOurs,
  'transfer-encoding': FieldKind.notOurs,
  expect: FieldKind.notOurs,
  upgrade: FieldKind.notOurs,
  range: FieldKind.notPlain, // 206, 416
  'if-match': FieldKind.notPlain, // for the origin
  'if-unmodified-since': FieldKind.notPlain,
  'cache-control': FieldKind.notPlain, // how fresh the answer must be, whether it may be coded
  pragma: FieldKind.notPlain,
  via: FieldKind.notPlain, // the request may have been here before: 508
  'cdn-loop': FieldKind.notPlain,
  'x-forwarded-for': FieldKind.notPlain, // from a trusted proxy: whose request it is, and whether by TLS
  'x-forwarded-proto': FieldKind.notPlain,
  authorization: FieldKind.once, // counts when a response comes to be stored
  'if-range': FieldKind.once, // says nothing without Range
  origin: FieldKind.once, // counts where the method is OPTIONS or the response varies
  'content-location': FieldKind.once,
  'content-range': FieldKind.once,
  'content-type': FieldKind.once,
  date: FieldKind.once,
  from: FieldKind.once,
  'max-forwards': FieldKind.once,
  'proxy-authorization': FieldKind.once,
  connection: FieldKind.connection,
  'proxy-connection': FieldKind.connection, // node:http's parser takes it for the same
  host: FieldKind.host,
  'user-agent': FieldKind.userAgent,
  referer: FieldKind.referer,
  'accept-encoding': FieldKind.acceptEncoding,
  'if-none-match': FieldKind.ifNoneMatch,
  'if-modified-since': FieldKind.ifModifiedSince,
  'accept-language': FieldKind.harmless, // chooses among variants, and what varies by it is not kept ready
  'access-control-request-method': FieldKind.harmless, // counts where the method is OPTIONS
  'sec-websocket-key': FieldKind.harmless, // counts with Upgrade
} as const satisfies Record<RequestFieldName, FieldKind>;

/** All others leave a request plain: nothing reads them. */
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
