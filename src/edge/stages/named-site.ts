/** Whose line a request is that never came to stage 2: of the site that its Host names. docs/decisions/0297 */
import { hostOf } from '#http/request.ts';
import type { RequestHeaders } from '#http/request-fields.ts';
import type { SiteTable } from '#sites/table.ts';

/** The site of a request's log line; without a host and domain until one is found. */
export interface NamedSite {
  host: string | undefined;
  domainId: number;
  /** Queries may have a viewer's key. */
  isLive: boolean;
}

/**
 * The site that the `Host` names. `undefined`: the request names no host or several, the host has no site, or sites
 * cannot be looked up just now.
 */
export function findNamedSite(sites: SiteTable, headers: RequestHeaders): NamedSite | undefined {
  const host = hostOf(headers);
  if (host === undefined) return undefined;
  try {
    const site = sites.find(host);
    return site && { host, domainId: site.id, isLive: site.type === 'live' };
  } catch {
    return undefined; // a line of no domain is better than none
  }
}
