/**
 * The answer to a request that the domain refuses: the customer's page or redirect, or a plain 403. Pure. Edge rule 6
 */
import { formatDate } from '#http/dates.ts';
import type { Site } from '#sites/site.ts';
import type { Denial } from '../reasons.ts';
import { type EdgeAnswer, NO_BODY } from './edge-answer.ts';
import { errorAnswer } from './error-page.ts';

/**
 * A HEAD gets the same answer as a GET; the body is left out later. A domain that is not open has no page of its own.
 */
export function refusalAnswer({ state, access }: Site, reason: Denial, now: number): EdgeAnswer {
  const mark = { status: 'DENIED', reason } as const;
  const { refusal } = access;
  if (state !== 'open' || refusal === undefined) return errorAnswer(state === 'accountLimit' ? 503 : 403, mark, now);
  const common = ['Cache-Control', 'no-store', 'Date', formatDate(now)];
  if (refusal.kind === 'redirect') {
    const headers = ['Location', refusal.url, 'Content-Length', '0', ...common];
    return { status: 302, reason: 'Found', headers, body: NO_BODY, mark };
  }
  const page = Buffer.from(refusal.html);
  const headers = ['Content-Type', 'text/html; charset=utf-8', 'Content-Length', String(page.length), ...common];
  return { status: 403, reason: 'Forbidden', headers, body: { kind: 'pieces', pieces: [page] }, mark };
}
