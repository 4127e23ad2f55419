/** The edge's own refusals and errors: a short text with the reason that is also in `X-Cache`. Pure. */
import { STATUS_CODES } from 'node:http';
import { formatDate } from '#http/dates.ts';
import { type CacheMark, reasonOf } from '../reasons.ts';
import type { EdgeAnswer } from './edge-answer.ts';

/** `closes`: whether the connection ends after it. */
export function errorAnswer(status: number, mark: CacheMark, now: number, closes = false): EdgeAnswer {
  const reason = STATUS_CODES[status] ?? 'Error';
  const text = Buffer.from(`${status} ${reason}\n${reasonOf(mark)}\n`);
  const headers = [
    'Content-Type',
    'text/plain; charset=utf-8',
    'Content-Length',
    String(text.length),
    'Cache-Control',
    'no-store',
    'Date',
    formatDate(now),
  ];
  return { status, reason, headers, body: { kind: 'pieces', pieces: [text] }, mark, closes };
}
