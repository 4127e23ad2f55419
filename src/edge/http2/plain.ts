/**
 * A header section of HTTP/2 that asks plainly: for the same as `isPlainGet` takes over HTTP/1.1. Whatever has another meaning
 * or is no request is left to `request.ts`. docs/decisions/0273. Pure.
 */
import type { RawHeaders } from '#http/headers.ts';
import { FieldKind, KNOWN_FIELDS, type KnownField } from '../plain-fields.ts';

export interface PlainHead {
  readonly authority: string;
  readonly target: string;
  // Empty: absent.
  readonly acceptEncoding: string;
  readonly referer: string;
  readonly userAgent: string;
  readonly ifNoneMatch: string;
  readonly ifModifiedSince: string;
  /** As it would be written over HTTP/1.1. */
  readonly headBytes: number;
}

/** `fields`: flat list, as node:http2 gives it. */
export function readPlainHead(fields: RawHeaders, maxHeadBytes: number): PlainHead | undefined {
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
  let method = '';
  let scheme = '';
  let host: string | undefined;
  let hasCookie = false;
  let seen = 0;
  let bytes = FIXED_BYTES;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? '';
    const value = fields[i + 1] ?? '';
    switch (name) {
      case ':method':
        method = value;
        continue;
      case ':scheme':
        scheme = value;
        continue;
      case ':authority':
        head.authority = value;
        continue;
      case ':path':
        head.target = value;
        continue;
      case 'cookie': // in pieces, which are one field elsewhere: `; ` between them
        bytes += hasCookie ? value.length + 2 : name.length + value.length + 4;
        hasCookie = true;
        continue;
    }
    bytes += name.length + value.length + 4;
    const field = KNOWN.get(name);
    if (field === undefined) continue;
    if ((seen & field.bit) !== 0) return undefined;
    seen |= field.bit;
    if (field.kind === FieldKind.host) {
      host = value;
      bytes -= name.length + value.length + 4; // `:authority` says it
    } else if (!noteField(head, field.kind, value)) return undefined;
  }
  const { authority, target } = head;
  if (method !== 'GET' || scheme !== 'https' || authority === '' || !TARGET.test(target)) return undefined;
  if (host !== undefined && host !== authority) return undefined;
  head.headBytes = bytes + target.length + authority.length;
  return head.headBytes > maxHeadBytes ? undefined : head;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** False: with this field the request is not plain. */
function noteField(head: Writable<PlainHead>, kind: FieldKind, value: string): boolean {
  switch (kind) {
    case FieldKind.once:
      return true;
    case FieldKind.userAgent:
      head.userAgent = value;
      break;
    case FieldKind.referer:
      head.referer = value;
      break;
    case FieldKind.acceptEncoding:
      head.acceptEncoding = value;
      break;
    case FieldKind.ifNoneMatch:
      head.ifNoneMatch = value;
      break;
    case FieldKind.ifModifiedSince:
      head.ifModifiedSince = value;
      break;
    default:
      return false;
  }
  return value !== ''; // to have one that says nothing is not to have none
}

const KNOWN: ReadonlyMap<string, KnownField> = new Map(KNOWN_FIELDS.map((field) => [field.name, field]));

const FIXED_BYTES = 'GET  HTTP/1.1\r\nHost: \r\n\r\n'.length;

/** As the reader of HTTP/1.1 takes it. */
const TARGET = /^\/[!"$-~]*$/;
