/** Stage 3: may this request be served at all? Pure. Today only the domain's state decides. */
import type { Site } from '#sites/site.ts';
import type { Denial } from './reasons.ts';

export type Access = { readonly kind: 'allow' } | { readonly kind: 'deny'; readonly reason: Denial };

/** Everything but an open domain is refused without contact to an origin. Edge rule 1 */
export function checkAccess(site: Site): Access {
  return site.state === 'open' ? { kind: 'allow' } : { kind: 'deny', reason: site.state };
}
