/** Checks signed URLs, and takes their signature off. Pure. docs/decisions/0637 */
import { checkAuthKey, isAuthKeyMember, readAuthKey } from '#sites/live-key.ts';
import type { Site } from '#sites/site.ts';
import { type EdgeRequest, withTarget } from '../request.ts';
import { isRefusalTarget } from './access.ts';
import { pathReadings } from './path-readings.ts';

export type SignedUrl =
  /** `request` has no signature: it is no part of the cache key, and no origin gets it. */
  | { readonly kind: 'allow'; readonly request: EdgeRequest }
  | { readonly kind: 'deny'; readonly reason: 'signature' | 'expired' };

export function checkSignedUrl(site: Site, request: EdgeRequest, now: number): SignedUrl {
  const { signing } = site;
  if (signing === undefined || !needsSignature(site, request)) return { kind: 'allow', request };
  const { target, query } = request;
  const path = target.slice(0, target.length - query.length);
  const at = now - signing.validSeconds * 1000;
  const check = checkAuthKey({ value: readAuthKey(query), path, keys: signing.keys, now: at });
  if (check.kind === 'valid') return { kind: 'allow', request: withTarget(request, path + withoutAuthKey(query)) };
  return { kind: 'deny', reason: check.reason === 'expired' ? 'expired' : 'signature' };
}

/** A path that an origin may read differently needs one, whatever the rules say. */
function needsSignature(site: Site, request: EdgeRequest): boolean {
  const paths = site.signing?.paths;
  if (isRefusalTarget(site, request)) return false;
  if (paths === undefined) return true;
  return pathReadings(request).length > 1 || paths.find(request) !== undefined;
}

function withoutAuthKey(query: string): string {
  const members = query.slice(1).split('&');
  const others = members.filter((member) => !isAuthKeyMember(member));
  return others.length === 0 ? '' : `?${others.join('&')}`;
}
