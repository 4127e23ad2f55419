/**
 * The answer to bytes that are no HTTP request, and to CONNECT: there is no path, so it has the envelope of the
 * acceleration interface.
 */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Locale } from '#contract/schema/locale.ts';
import type { CallAnswer } from '../call-answer.ts';
import { answerFailure } from '../call-answer.ts';
import { linesOf } from './answer-fields.ts';

/** `code`: Node's, of what is wrong. */
export type AnswerBroken = (error: { readonly code?: string }, socket: Duplex) => void;

/** A code of ours among Node's: the request came in clear to a port that speaks TLS. */
export const PLAIN_HTTP = 'PLAIN_HTTP';

export function answerBrokenRequest(locale: Locale, count: (answer: CallAnswer) => void): AnswerBroken {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const answer = answerFailure(toServiceError(error.code), '', locale);
    count(answer);
    socket.end(formatAnswer(answer));
  };
}

/** Answers CONNECT, which Node passes to no other listener, and would answer by closing the connection. */
export function answerConnect(locale: Locale, count: (answer: CallAnswer) => void) {
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
    case PLAIN_HTTP:
      return new ServiceError('plainHttp');
    default:
      return new ServiceError('requestMalformed');
  }
}

function formatAnswer({ http, headers, body }: CallAnswer): string {
  const text = JSON.stringify(body);
  const lines = linesOf({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    'x-request-id': randomUUID(),
    connection: 'close',
  });
  return `HTTP/1.1 ${http} ${STATUS_CODES[http]}\r\n${lines}\r\n${text}`;
}
