/** The head of an answer as HTTP/1.1 writes it. What no server may send, be it in a name, a value or the reason, becomes no text. Pure. */
import type { RawHeaders } from './headers.ts';

/**
 * Status line, fields and empty line, one byte per character. How the body ends is not its matter: `framing`, whole lines, stands
 * behind the fields, which lose what an origin may have said of it.
 */
export function formatHead(status: number, reason: string, headers: RawHeaders, framing = ''): string {
  if (!Number.isInteger(status) || status < 100 || status > 999)
    throw new Error('an answer has a status of three digits');
  if (!VALUE.test(reason)) throw new Error('the reason holds what may not stand in a status line');
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    if (!NAME.test(name) || !VALUE.test(value)) throw new Error(`the field ${JSON.stringify(name)} may not be sent`);
    if (name.length === TRANSFER_ENCODING.length && name.toLowerCase() === TRANSFER_ENCODING) continue;
    text += `${name}: ${value}\r\n`;
  }
  return `${text + framing}\r\n`;
}

const TRANSFER_ENCODING = 'transfer-encoding';

/** RFC 9110 §5.6.2 */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 §5.5: no line ends, and nothing that is more than one byte. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
