/**
 * Converts an HTTP/2 header section to the request that stage 1 reads, as for HTTP/1.1. RFC 9113 §8.1.1, §8.3.1. Pure.
 */
import { METHODS } from 'node:http';
import { type Expectation, expectationOf } from '#http/expect.ts';
import { type ReceivedRequest, requestHeadBytes } from '../../request.ts';
import type { SectionReading } from './hpack/decoder.ts';
import { Http2FieldKind, type RequestField } from './request-field.ts';

export interface Http2Head {
  /** The fields in order. */
  readonly fields: readonly RequestField[];
  /** `tooLarge`: some fields are missing. */
  readonly reading: Exclude<SectionReading, 'malformed'>;
  /** The request has no body and no trailers. */
  readonly isWhole: boolean;
}

export interface Http2Request
  extends Pick<ReceivedRequest, 'method' | 'target' | 'httpVersion' | 'headers' | 'hasUnframedBody' | 'problem'> {
  readonly expectation: Expectation;
  /** The announced body length; `undefined` if there is none. */
  readonly lengthBytes: number | undefined;
}

/**
 * `maxHeadBytes`: limit of the head's size over HTTP/1.1. Returns `undefined` if the request is malformed and its
 * stream must be reset.
 */
export function readHttp2Request(head: Http2Head, maxHeadBytes: number): Http2Request | undefined {
  const { isWhole } = head;
  const read = readFields(head.fields);
  const isTooLarge = head.reading === 'tooLarge';
  if (read === undefined || (!isTooLarge && !isComplete(read))) return undefined;
  const { method, scheme, path, headers, cookies, host, lengthBytes } = read;
  if (isWhole && (lengthBytes ?? 0) > 0) return undefined;
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '));
  // Keep `host` only if it contradicts `:authority`: stage 1 then refuses the request.
  const authority = read.authority === '' ? host : read.authority;
  if (authority !== undefined) headers.unshift('host', authority);
  if (host !== undefined && host.toLowerCase() !== authority?.toLowerCase()) headers.push('host', host);
  // The connection is TLS. Another scheme is passed on as an absolute-form target, which names another server.
  const target = scheme === 'https' || path === '' ? path : `${scheme}://${authority ?? ''}${path}`;
  const hasUnframedBody = !isWhole && lengthBytes === undefined;
  const request = { method, target, httpVersion: '2.0', headers, hasUnframedBody } as const;
  const problem = isTooLarge ? 'headerTooLarge' : problemOf(request, maxHeadBytes);
  return { ...request, expectation: expectationOf(headers, '2.0'), lengthBytes, ...(problem && { problem }) };
}

interface ReadFields {
  method: string;
  scheme: string;
  authority: string;
  path: string;
  readonly headers: string[];
  readonly cookies: string[];
  host: string | undefined;
  lengthBytes: number | undefined;
}

/** Returns `undefined` if a field is invalid or not allowed. */
function readFields(fields: readonly RequestField[]): ReadFields | undefined {
  const read: ReadFields = {
    method: '',
    scheme: '',
    authority: '',
    path: '',
    headers: [],
    cookies: [],
    host: undefined,
    lengthBytes: undefined,
  };
  let seen = 0;
  let isBehindPseudo = false;
  for (const field of fields) {
    if (!field.isValid || (field.isPseudo && (isBehindPseudo || (seen & field.bit) !== 0))) return undefined;
    seen |= field.bit;
    if (!field.isPseudo) isBehindPseudo = true;
    if (!noteField(read, field)) return undefined;
  }
  return read;
}

function noteField(read: ReadFields, { name, value, kind }: RequestField): boolean {
  switch (kind) {
    case Http2FieldKind.method:
      read.method = value;
      return true;
    case Http2FieldKind.scheme:
      read.scheme = value;
      return true;
    case Http2FieldKind.authority:
      read.authority = value;
      return true;
    case Http2FieldKind.path:
      read.path = value;
      return true;
    case Http2FieldKind.host:
      read.host = read.host === undefined ? value : `${read.host}, ${value}`; // two Host fields make an invalid host
      return true;
    case Http2FieldKind.cookie:
      read.cookies.push(value); // §8.2.3: the pieces are joined to one field
      return true;
  }
  if (name === 'content-length') {
    if (read.lengthBytes !== undefined) return false;
    read.lengthBytes = Number(value);
  }
  read.headers.push(name, value);
  return true;
}

/** Whether the required pseudo-header fields are present. §8.3.1; for CONNECT §8.5 */
function isComplete({ method, scheme, authority, path, host }: ReadFields): boolean {
  if (authority === '' && host === undefined) return false;
  if (method === 'CONNECT') return scheme === '' && path === '';
  const isOnServer = path.startsWith('/') || (path === '*' && method === 'OPTIONS');
  return method !== '' && scheme !== '' && path !== '' && (isOnServer || !/^https?$/i.test(scheme));
}

/** Returns the problem that the HTTP/1 parser would refuse the request for. */
function problemOf(
  request: Pick<ReceivedRequest, 'method' | 'target' | 'headers'>,
  maxHeadBytes: number,
): ReceivedRequest['problem'] {
  if (!KNOWN_METHODS.has(request.method)) return 'malformed';
  return requestHeadBytes(request) > maxHeadBytes ? 'headerTooLarge' : undefined;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

/**
 * Whether the fields behind a body are valid trailers. They are not passed on; a pseudo-header field among them makes
 * the request malformed. RFC 9113 §8.1
 */
export function areTrailers(fields: readonly RequestField[]): boolean {
  return fields.every(({ isValid, isPseudo }) => isValid && !isPseudo);
}
