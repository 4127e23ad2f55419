/**
 * The answer to bytes that are no HTTP request, and to CONNECT: there is no path, so it has the envelope of the acceleration
 * interface.
 */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '#contract/errors.ts';
import type { Locale } from '#contract/locale.ts';
import type { Answer } from './answer.ts';
import { answerFailure } from './answer.ts';

export function answerBrokenRequest(locale: Locale, count: (answer: Answer) => void) {
  return (error: Error & { readonly code?: string }, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const answer = answerFailure(toServiceError(error.code), '', locale);
    count(answer);
    socket.end(formatAnswer(answer));
  };
}

/** Node hands these to nobody else, and would hang up. */
export function answerConnect(locale: Locale, count: (answer: Answer) => void) {
  return (_request: unknown, socket: Duplex): void => {
    const answer = answerFailure(new ServiceError('methodNotAllowed', { allow: 'POST' }), '', locale);
    count(answer);
    socket.on('error', () => undefined); // it may be gone already
    socket.end(formatAnswer(answer));
  };
}

function toServiceError(code: string | undefined): ServiceError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError('headersTooLarge');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServiceError('requestTimeout');
    default:
      return new ServiceError('requestMalformed');
  }
}

function formatAnswer({ http, headers, body }: Answer): string {
  const text = JSON.stringify(body);
  const fields = {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    'x-request-id': randomUUID(),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${http} ${STATUS_CODES[http]}\r\n${lines.join('')}\r\n${text}`;
}
