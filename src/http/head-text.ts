/**
 * Formats heads of HTTP/1.1. Throws if a name, value, target or reason contains characters that must not be sent. Pure.
 */
import type { RawHeaders } from './headers.ts';

/**
 * Formats status line, fields and empty line, one byte per character. `framing`: whole lines that say how the body
 * ends, appended to the fields; an origin's Transfer-Encoding is dropped.
 */
export function formatHead(status: number, reason: string, headers: RawHeaders, framing = ''): string {
  if (!Number.isInteger(status) || status < 100 || status > 999)
    throw new Error('an answer has a status of three digits');
  if (!VALUE.test(reason)) throw new Error('the reason holds what may not stand in a status line');
  return `HTTP/1.1 ${status} ${reason}\r\n${formatFields(headers)}${framing}\r\n`;
}

/**
 * Formats request line, fields and empty line of a request without a body, one byte per character. `more`: whole lines
 * appended to the fields.
 */
export function formatRequest(method: 'GET' | 'HEAD', target: string, headers: RawHeaders, more: string): string {
  if (!TARGET.test(target)) throw new Error('the target holds what may not stand in a request line');
  return `${method} ${target} HTTP/1.1\r\n${formatFields(headers)}${more}\r\n`;
}

function formatFields(headers: RawHeaders): string {
  let text = '';
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    if (!NAME.test(name) || !VALUE.test(value)) throw new Error(`the field ${JSON.stringify(name)} may not be sent`);
    if (name.length === TRANSFER_ENCODING.length && name.toLowerCase() === TRANSFER_ENCODING) continue;
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

const TRANSFER_ENCODING = 'transfer-encoding';

/** RFC 9110 §5.6.2 */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** No line ends and no characters beyond one byte. RFC 9110 §5.5 */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Bytes that are neither blank nor control. */
const TARGET = /^[\x21-\x7e\x80-\xff]+$/;
