/** Encodes the head of an answer for HTTP/2, and computes its size over HTTP/1.1. Pure. */
import { isHopByHop, type RawHeaders, trimOws } from '#http/headers.ts';
import { encodeFields } from './hpack/encoder.ts';

export interface EncodedSection {
  readonly section: Buffer;
  /**
   * Size over HTTP/1.1 with an empty reason phrase. Logs count it, since the compressed size depends on the connection.
   */
  readonly headBytes: number;
}

export function encodeSection(status: number, headers: RawHeaders): EncodedSection {
  const fields = [':status', String(status)];
  let headBytes = STATUS_LINE_BYTES;
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] ?? '').toLowerCase();
    // Connection-specific fields are not allowed. RFC 9113 §8.2.2
    if (isHopByHop(name)) continue;
    // A 205 has no body, so a length would be wrong.
    if (status === 205 && name === 'content-length') continue;
    const value = trimOws(headers[i + 1] ?? '');
    if (!NAME.test(name) || !VALUE.test(value)) throw new Error(`the field ${JSON.stringify(name)} may not be sent`);
    fields.push(name, value);
    headBytes += name.length + value.length + 4;
  }
  return { section: encodeFields(fields), headBytes };
}

/** Size of the status line and of the empty line. */
const STATUS_LINE_BYTES = 'HTTP/1.1 200 \r\n\r\n'.length;

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** No line ends and no characters beyond one byte. RFC 9110 §5.5 */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
