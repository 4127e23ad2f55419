/** Redirects plain HTTP to HTTPS and adds Strict-Transport-Security, as a site's settings say. Pure. */
import { formatDate } from '#http/dates.ts';
import { withField } from '#http/headers.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeContext } from '../context.ts';
import type { EdgeRequest } from '../request.ts';
import { type EdgeAnswer, NO_BODY } from '../respond/edge-answer.ts';

/** Returns `undefined` if the request needs no redirect. docs/decisions/0183 */
export function redirectToHttps(
  { tls }: Pick<Site, 'tls'>,
  request: Pick<EdgeRequest, 'scheme' | 'method' | 'host' | 'authority' | 'target'>,
  ports: EdgeContext['ports'],
  now: number,
): EdgeAnswer | undefined {
  if (tls?.forceHttps !== true || request.scheme === 'https') return undefined;
  const location = `https://${request.host}${portFor(request.authority, ports)}${request.target}`;
  const headers = ['Location', location, 'Content-Length', '0', 'Cache-Control', 'no-store', 'Date', formatDate(now)];
  // 308 keeps the method, which browsers change after 301. RFC 9110 §15.4.2, §15.4.9
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const [status, reason] = isRead ? ([301, 'Moved Permanently'] as const) : ([308, 'Permanent Redirect'] as const);
  return { status, reason, headers, body: NO_BODY, mark: { status: 'REDIRECT', reason: 'forceHttps' } };
}

/**
 * A client that names our own HTTP port reaches us directly, and so our HTTPS port too. Other clients are redirected to
 * the default port.
 */
function portFor(authority: string, { http, https }: EdgeContext['ports']): string {
  const isDirect = authority.endsWith(`:${http}`);
  return isDirect && https !== undefined && https !== HTTPS_PORT ? `:${https}` : '';
}

const HTTPS_PORT = 443;

/**
 * Adds HSTS to an answer over TLS, including the edge's own answers. Replaces the origin's field. RFC 6797 §7.1, §7.2
 */
export function withTransportSecurity(
  { tls }: Pick<Site, 'tls'>,
  { scheme }: Pick<EdgeRequest, 'scheme'>,
  answer: EdgeAnswer,
): EdgeAnswer {
  if (tls === undefined || tls.hstsMaxAgeSeconds === 0 || scheme === 'http') return answer;
  const value = `max-age=${tls.hstsMaxAgeSeconds}`;
  return { ...answer, headers: withField(answer.headers, 'Strict-Transport-Security', value) };
}
