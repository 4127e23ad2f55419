/**
 * OPTIONS requests that the edge answers itself: for the server as a whole, and for a resource when Max-Forwards is 0.
 * Pure. RFC 9110 §7.6.2, §9.3.7
 */
import { formatDate } from '#http/dates.ts';
import { firstValue, withField } from '#http/headers.ts';
import { wholeSection } from '#http/request-fields.ts';
import { type EdgeRequest, withRequestHeaders } from '../request.ts';
import { type EdgeAnswer, NO_BODY } from '../respond/edge-answer.ts';

/** Methods that are forwarded; the origin may still refuse them. TRACE and CONNECT are refused here. */
const ALLOWED = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export function answerOptions(now: number): EdgeAnswer {
  const headers = ['Allow', ALLOWED, 'Content-Length', '0', 'Cache-Control', 'no-store', 'Date', formatDate(now)];
  return { status: 200, reason: 'OK', headers, body: NO_BODY, mark: { status: 'OWN', reason: 'serverOptions' } };
}

/** Whether Max-Forwards is 0, so the edge must answer itself. A value that is not digits only is ignored. */
export function isLastHop(request: Pick<EdgeRequest, 'method' | 'headers'>): boolean {
  return hopsLeft(request) === 0;
}

/** Returns the request with Max-Forwards lowered by one; unchanged if it has none. */
export function withHopTaken(request: EdgeRequest): EdgeRequest {
  const hops = hopsLeft(request);
  if (hops === undefined || hops === 0) return request;
  return withRequestHeaders(request, withField(wholeSection(request.headers), 'Max-Forwards', String(hops - 1)));
}

function hopsLeft({ method, headers }: Pick<EdgeRequest, 'method' | 'headers'>): number | undefined {
  const value = method === 'OPTIONS' ? firstValue(headers, 'max-forwards') : undefined;
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}
