/**
 * Finds the site whose log gets a request that never reached stage 2: the site that its Host names. docs/decisions/0297
 */
import { hostOf } from '#http/request.ts';
import type { RequestHeaders } from '#http/request-fields.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';

/** The site of a request's log line; `host` is `undefined` until a site is found. */
export interface NamedSite {
  host: string | undefined;
  domainId: number;
  /** Queries may contain a viewer's key, which the log masks. */
  hasKeys: boolean;
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
    return site && { host, domainId: site.id, hasKeys: hasKeys(site) };
  } catch {
    return undefined; // a log line without a domain is better than none
  }
}

export function hasKeys({ type, signing }: Pick<Site, 'type' | 'signing'>): boolean {
  return type === 'live' || signing !== undefined;
}
