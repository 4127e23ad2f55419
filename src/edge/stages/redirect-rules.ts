/** Sends requests elsewhere, as a site's redirects say. Pure. docs/decisions/0638 */
import { STATUS_CODES } from 'node:http';
import { formatDate } from '#http/dates.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeRequest } from '../request.ts';
import { type EdgeAnswer, NO_BODY } from '../respond/edge-answer.ts';

/** Returns `undefined` if no rule matches. */
export function redirectByRule({ redirects }: Site, request: EdgeRequest, now: number): EdgeAnswer | undefined {
  const found = redirects?.find(request);
  if (found === undefined) return undefined;
  const { status, location } = found;
  const headers = ['Location', location, 'Content-Length', '0', 'Cache-Control', 'no-store', 'Date', formatDate(now)];
  const reason = STATUS_CODES[status] ?? '';
  return { status, reason, headers, body: NO_BODY, mark: { status: 'REDIRECT', reason: 'redirectRule' } };
}
