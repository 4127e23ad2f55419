/** The bytes of an answer on a connection that we write ourselves. */
import { STATUS_CODES } from 'node:http';
import { formatDate } from '#http/dates.ts';
import type { Clock } from '#lib/clock.ts';
import type { CallAnswer } from '../../call-answer.ts';
import { ALWAYS, linesOf } from '../answer-fields.ts';
import { KEEP_ALIVE_MS } from '../limits.ts';

export type FormatAnswer = (answer: CallAnswer, requestId: string, isLast: boolean) => Buffer;

export function createFormatAnswer(security: Readonly<Record<string, string>>, clock: Clock): FormatAnswer {
  const fixedLines = linesOf({ ...security, ...ALWAYS });
  /**
   * Beginnings that all answers with a status share. Copying 900 bytes costs half a microsecond less than writing them.
   */
  const beginnings = new Map<number, Buffer>();
  const beginningOf = (http: number) => {
    const made =
      beginnings.get(http) ?? Buffer.from(`HTTP/1.1 ${http} ${STATUS_CODES[http]}\r\n${fixedLines}`, 'latin1');
    beginnings.set(http, made);
    return made;
  };
  let second = -1;
  let date = '';
  return ({ http, headers, body }, requestId, isLast) => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) date = formatDate(now * 1000);
    second = now;
    const text = JSON.stringify(body);
    const sizeBytes = Buffer.byteLength(text);
    const lines =
      `${linesOf(headers)}x-request-id: ${requestId}\r\ncontent-length: ${sizeBytes}\r\nDate: ${date}\r\n` +
      `${isLast ? LAST_LINES : KEEP_ALIVE_LINES}\r\n`;
    const beginning = beginningOf(http);
    const bytes = Buffer.allocUnsafe(beginning.length + lines.length + sizeBytes);
    bytes.set(beginning);
    bytes.write(lines, beginning.length, 'latin1');
    bytes.write(text, beginning.length + lines.length);
    return bytes;
  };
}

const LAST_LINES = 'Connection: close\r\n';
const KEEP_ALIVE_LINES = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n`;
