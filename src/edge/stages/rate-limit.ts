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
  const limit = limitOf(site, request);
  const waitMs = limit === undefined ? 0 : rates.take(limit, rates.clientOf(request.clientAddress), now);
  if (waitMs === 0) return undefined;
  const answer = errorAnswer(429, { status: 'DENIED', reason: 'rateLimit' }, now);
  return { ...answer, headers: [...answer.headers, 'Retry-After', String(Math.ceil(waitMs / 1000))] };
}

/** The limit that counts for a request: the first for its path, or for the path that an origin may read instead. */
export function limitOf({ rateLimits }: Site, request: EdgeRequest): SiteLimit | undefined {
  if (rateLimits === undefined) return undefined;
  for (const target of pathReadings(request)) {
    const limit = rateLimits.find(target);
    if (limit !== undefined) return limit;
  }
  return undefined;
}
