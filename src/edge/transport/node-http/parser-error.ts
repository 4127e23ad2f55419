/**
 * Answers input that the HTTP parser refuses, and requests that did not arrive in time, on the bare socket. The
 * connection ends.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { formatDate } from '#http/dates.ts';
import { REFUSAL_TYPE, type Refusal } from '../../early-refusal.ts';
import { formatMark } from '../../reasons.ts';

/** Returns the refusal to send; `undefined` if the connection broke and no answer can reach the client. */
export function readParserError(error: NodeJS.ErrnoException): Refusal | undefined {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return isInTarget(error) ? { status: 414, reason: 'targetTooLong' } : { status: 431, reason: 'headerTooLarge' };
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, reason: 'requestTimeout' };
  if (error.code === 'HPE_INVALID_VERSION' && isVersion(error)) return { status: 505, reason: 'version' };
  if (error.code === 'HPE_INVALID_EOF_STATE') return undefined; // it ended before the request was complete
  return error.code?.startsWith('HPE_') === true ? { status: 400, reason: 'malformed' } : undefined;
}

/** Whether the line ends after `HTTP/`, a digit, a dot and a digit: a version, but an unknown one. RFC 9112 §2.3 */
function isVersion(error: Error): boolean {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined;
  const parsed = 'bytesParsed' in error ? error.bytesParsed : undefined;
  const isWhole = 'reason' in error && error.reason === 'Invalid HTTP version';
  if (!isWhole || !Buffer.isBuffer(packet) || typeof parsed !== 'number') return false;
  const next = packet[parsed];
  return next === undefined || next === CR || next === LF; // if the next byte has not arrived, the line is assumed to end here
}

const CR = 0x0d;
const LF = 0x0a;

/** Whether the parser's last input is a method and an unterminated target. RFC 9110 §15.5.15 */
function isInTarget(error: Error): boolean {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined;
  return Buffer.isBuffer(packet) && /^[A-Z]{1,20} [^ \r\n]*$/.test(packet.toString('latin1', 0, MAX_LOOKED_AT));
}

/** Larger than the parser's limit of a head. */
const MAX_LOOKED_AT = 64 * 1024;

/** Sends a refusal and ends the connection. Returns the number of bytes sent; 0 if the connection had already ended. */
export function sendRefusal(socket: Socket, { status, reason, explanation }: Refusal, now: number): number {
  if (!socket.writable) return 0;
  const phrase = STATUS_CODES[status] ?? '';
  const text = [`${status} ${phrase}`, reason, ...(explanation === undefined ? [] : [explanation]), ''].join('\n');
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    `Content-Type: ${REFUSAL_TYPE}`,
    `Content-Length: ${text.length}`,
    'Cache-Control: no-store',
    `Date: ${formatDate(now)}`,
    'Connection: close',
    `X-Cache: ${formatMark({ status: 'ERROR', reason })}`,
  ];
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`, 'latin1');
  socket.end(bytes);
  socket.destroySoon();
  return bytes.length;
}
