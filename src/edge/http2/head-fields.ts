/** The head of an answer as HTTP/2 has it, and what it would take over HTTP/1.1. Pure. */
import { isHopByHop, type RawHeaders } from '#http/headers.ts';

export interface HeadFields {
  /** Flat list, for node:http2. */
  readonly fields: string[];
  /** With an empty phrase. How much of it the compression of fields saves is the connection's. */
  readonly headBytes: number;
}

export function headFields(status: number, headers: RawHeaders): HeadFields {
  const fields = [':status', String(status)];
  let headBytes = STATUS_LINE_BYTES;
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] ?? '').toLowerCase();
    // What is said of one connection has no place here. RFC 9113 §8.2.2
    if (isHopByHop(name)) continue;
    // Node sends no body with this status, and a length would promise one.
    if (status === 205 && name === 'content-length') continue;
    const value = headers[i + 1] ?? '';
    fields.push(name, value);
    headBytes += name.length + value.length + 4;
  }
  return { fields, headBytes };
}

/** And the empty line. */
const STATUS_LINE_BYTES = 'HTTP/1.1 200 \r\n\r\n'.length;
