/**
 * Parses requests just far enough for their log lines: requests of a kind that node:http would serve, on a connection
 * that ends before they are handed to it. Pure.
 */
import { firstValue, trimOws } from '#http/headers.ts';
import type { ReceivedRequest } from '../../request.ts';

/** A request as parsed from the bytes of a connection. */
export interface ReadRequest
  extends Pick<ReceivedRequest, 'method' | 'target' | 'httpVersion' | 'headers' | 'isPlain'> {
  readonly headBytes: number;
  /** Whether no request follows on the connection. */
  readonly isLast: boolean;
}

export interface OtherRequest extends ReadRequest {
  /** Size of head and body, where the next request begins; infinite if the length of the body is unknown. */
  readonly wholeBytes: number;
}

/** Returns `undefined` if `bytes` do not begin with a complete, valid head. */
export function readOther(bytes: Buffer): OtherRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [line = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, method, target, minor] = REQUEST_LINE.exec(line) ?? [];
  const fields = lines.map((text) => FIELD.exec(text));
  if (method === undefined || target === undefined || fields.includes(null)) return undefined;
  const headers = fields.flatMap((field) => [field?.[1] ?? '', trimOws(field?.[2] ?? '')]);
  const headBytes = end + 4;
  return {
    method,
    target,
    httpVersion: minor === '0' ? '1.0' : '1.1',
    headers,
    headBytes,
    isLast: true,
    wholeBytes: headBytes + bodyBytes(headers),
  };
}

function bodyBytes(headers: ReceivedRequest['headers']): number {
  if (firstValue(headers, 'transfer-encoding') !== undefined) return Number.POSITIVE_INFINITY;
  const length = firstValue(headers, 'content-length') ?? '0';
  return /^\d+$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY;
}

const REQUEST_LINE = /^([!-~]+) ([!-~\x80-\xff]+) HTTP\/1\.([01])$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t -~\x80-\xff]*)$/;
