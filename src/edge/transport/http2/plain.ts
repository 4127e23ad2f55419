/**
 * Recognizes plain HTTP/2 requests, as `isPlainGet` does for HTTP/1.1. Other and malformed requests are left to
 * `request.ts`. docs/decisions/0270. Pure.
 */
import type { KeyTexts } from '../../shortcuts/shortcut-key.ts';
import { Http2FieldKind, type RequestField } from './request-field.ts';

/** The parts of a plain request. Absent fields are empty. */
export interface PlainHead extends Omit<KeyTexts, 'isTls' | 'host'> {
  readonly authority: string;
  readonly referer: string;
  readonly userAgent: string;
  /** Size of the head over HTTP/1.1. */
  readonly headBytes: number;
}

export function readPlainHead(fields: readonly RequestField[], maxHeadBytes: number): PlainHead | undefined {
  const head: Writable<PlainHead> = {
    authority: '',
    target: '',
    acceptEncoding: '',
    referer: '',
    userAgent: '',
    ifNoneMatch: '',
    ifModifiedSince: '',
    headBytes: 0,
  };
  const told: Told = { method: '', scheme: '', host: undefined };
  let seen = 0;
  let hasCookie = false;
  let isBehindPseudo = false;
  let bytes = FIXED_BYTES;
  for (const field of fields) {
    const { name, value, kind, bit, isPseudo } = field;
    if (!field.isValid || (seen & bit) !== 0 || (isPseudo && isBehindPseudo)) return undefined;
    seen |= bit;
    if (isPseudo) {
      notePseudo(head, told, kind, value);
      continue;
    }
    isBehindPseudo = true;
    bytes += name.length + value.length + 4;
    if (kind === Http2FieldKind.other) continue;
    if (kind === Http2FieldKind.host) {
      told.host = value;
      bytes -= name.length + value.length + 4; // `:authority` counts for it
    } else if (kind === Http2FieldKind.cookie) {
      if (hasCookie) bytes -= name.length + 2; // HTTP/1.1 has one Cookie field: `; ` joins the pieces
      hasCookie = true;
    } else if (!noteField(head, kind, value)) return undefined;
  }
  const { authority, target } = head;
  const { method, scheme, host } = told;
  if (method !== 'GET' || scheme !== 'https' || authority === '' || !TARGET.test(target)) return undefined;
  if (host !== undefined && host !== authority) return undefined;
  head.headBytes = bytes + target.length + authority.length;
  return head.headBytes > maxHeadBytes ? undefined : head;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface Told {
  method: string;
  scheme: string;
  host: string | undefined;
}

function notePseudo(head: Writable<PlainHead>, told: Told, kind: Http2FieldKind, value: string): void {
  switch (kind) {
    case Http2FieldKind.method:
      told.method = value;
      break;
    case Http2FieldKind.scheme:
      told.scheme = value;
      break;
    case Http2FieldKind.authority:
      head.authority = value;
      break;
    case Http2FieldKind.path:
      head.target = value;
      break;
  }
}

/** Returns false if the request is not plain with this field. */
function noteField(head: Writable<PlainHead>, kind: Http2FieldKind, value: string): boolean {
  switch (kind) {
    case Http2FieldKind.once:
      return true;
    case Http2FieldKind.userAgent:
      head.userAgent = value;
      break;
    case Http2FieldKind.referer:
      head.referer = value;
      break;
    case Http2FieldKind.acceptEncoding:
      head.acceptEncoding = value;
      break;
    case Http2FieldKind.ifNoneMatch:
      head.ifNoneMatch = value;
      break;
    case Http2FieldKind.ifModifiedSince:
      head.ifModifiedSince = value;
      break;
    default:
      return false;
  }
  return value !== ''; // an empty field differs from an absent one
}

const FIXED_BYTES = 'GET  HTTP/1.1\r\nHost: \r\n\r\n'.length;

/** Targets that the reader of HTTP/1.1 accepts. */
const TARGET = /^\/[!"$-~\x80-\xff]*$/;
