/** How the body of an answer over HTTP/1.1 ends, and what its head says of that and of the connection. RFC 9112 §6.3. Pure. */
import type { RawHeaders } from '#http/headers.ts';

/** `connection`: it ends with the connection. */
export type Framing = 'none' | 'length' | 'chunks' | 'connection';

export interface FramedAnswer {
  readonly framing: Framing;
  /** The announced length; 0 without a length or a body. */
  readonly lengthBytes: number;
  /** What the fields say of the connection; `undefined`: nothing. */
  readonly connection: 'close' | 'other' | undefined;
  /** Lines to be written behind the fields. */
  readonly lines: string;
}

/**
 * Reads how an answer to a request with this method is framed. Throws if its length is malformed. `isEndless`: see
 * `Viewer.sendHead`.
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

/** That the connection goes on, and for how long it waits for the next request. */
export function keepAliveLines(keepAliveMs: number): string {
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
}
