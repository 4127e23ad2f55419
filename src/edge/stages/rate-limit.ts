/** Stage 3: refuses clients that ask more often than a limit of the site allows. docs/decisions/0635 */
import type { SiteLimit } from '#sites/rate-limits.ts';
import type { Site } from '#sites/site.ts';
import type { ClientRates } from '../client-rates.ts';
import type { EdgeRequest } from '../request.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { pathReadings } from './path-readings.ts';

/** Counts the request. Returns 429 if its client has none left; such a request does not count. RFC 6585 §4 */
export function checkRate(
  { rates }: { readonly rates: Pick<ClientRates, 'clientOf' | 'take'> },
  site: Site,
  request: EdgeRequest,
  now: number,
): EdgeAnswer | undefined {
  for (const limit of limitsOf(site, request)) {
    const waitMs = rates.take(limit, rates.clientOf(request.clientAddress), now);
    if (waitMs > 0) return refuse(waitMs, now);
  }
  return undefined;
}

function refuse(waitMs: number, now: number): EdgeAnswer {
  const answer = errorAnswer(429, { status: 'DENIED', reason: 'rateLimit' }, now);
  return { ...answer, headers: [...answer.headers, 'Retry-After', String(Math.ceil(waitMs / 1000))] };
}

/** The limits that count for a request: the first for its path, and for each path that an origin may read instead. */
export function limitsOf({ rateLimits }: Site, request: EdgeRequest): readonly SiteLimit[] {
  if (rateLimits === undefined) return [];
  return [...new Set(pathReadings(request).flatMap((target) => rateLimits.find(target) ?? []))];
}
