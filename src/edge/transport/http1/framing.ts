/** Determines how the body of an HTTP/1.1 answer is delimited. RFC 9112 §6.3. Pure. */
import type { RawHeaders } from '#http/headers.ts';

/** `connection`: the end of the connection ends the body. */
export type Framing = 'none' | 'length' | 'chunks' | 'connection';

export interface FramedAnswer {
  readonly framing: Framing;
  /** The announced length; 0 without a length or a body. */
  readonly lengthBytes: number;
  /** The `Connection` field's value; `undefined` if there is none. */
  readonly connection: 'close' | 'other' | undefined;
  /** Lines to append to the fields. */
  readonly lines: string;
}

/**
 * Determines how the answer to a request with this method is framed. Throws if its length is malformed. `isEndless`:
 * see `Viewer.sendHead`.
 */
export function readFraming(method: string, status: number, headers: RawHeaders, isEndless = false): FramedAnswer {
  let length: string | undefined;
  let connection: FramedAnswer['connection'];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    if (name.length === CONTENT_LENGTH.length && name.toLowerCase() === CONTENT_LENGTH) {
      if (length !== undefined && length !== value) throw new Error('an answer has two lengths');
      length = value;
    } else if (name.length === CONNECTION.length && name.toLowerCase() === CONNECTION) {
      connection = value.toLowerCase() === 'close' ? 'close' : (connection ?? 'other');
    }
  }
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw new Error('an answer has a length that is none');
  if (method === 'HEAD' || status === 204 || status === 304)
    return { framing: 'none', lengthBytes: 0, connection, lines: '' };
  if (length === undefined && isEndless) return { framing: 'connection', lengthBytes: 0, connection, lines: '' };
  if (length === undefined) return { framing: 'chunks', lengthBytes: 0, connection, lines: CHUNKED_LINE };
  return { framing: 'length', lengthBytes: Number(length), connection, lines: '' };
}

const CONTENT_LENGTH = 'content-length';
const CONNECTION = 'connection';

export const CLOSE_LINE = 'Connection: close\r\n';
const CHUNKED_LINE = 'Transfer-Encoding: chunked\r\n';

/** Header lines that keep the connection open and announce how long it waits for the next request. */
export function keepAliveLines(keepAliveMs: number): string {
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
}
