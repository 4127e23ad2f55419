/**
 * The log line's facts of a request that is left to node:http and that node:http will never see. Input that is not a
 * request has none. Pure.
 */
import { firstValue, trimOws } from '#http/headers.ts';
import type { ReceivedRequest } from '../../request.ts';

/** Off the bytes of a connection. */
export interface ReadRequest
  extends Pick<ReceivedRequest, 'method' | 'target' | 'httpVersion' | 'headers' | 'isPlain'> {
  readonly headBytes: number;
  /** No request comes behind it. */
  readonly isLast: boolean;
}

export interface OtherRequest extends ReadRequest {
  /** The next one stands behind them; infinite: nobody knows where. */
  readonly wholeBytes: number;
}

/** `undefined`: there is no whole head. */
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
