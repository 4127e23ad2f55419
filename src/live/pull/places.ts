/** The origins that a live domain's streams are pulled from, in order, then its backup origins. Pure. */
import type { Scheme } from '#http/absolute-form.ts';
import { addressKey, isTlsOrigin, originPort } from '#sites/origin-address.ts';
import type { Site } from '#sites/site.ts';
import type { OriginPlace } from './origin-stream.ts';

/**
 * Lists the origins to pull from, each address once. `scheme` and `host` are those of the viewer that is pulled for.
 */
export function listPlaces(site: Site, scheme: Scheme, host: string): readonly OriginPlace[] {
  const { primary, backup, hostHeader: configured } = site.origins;
  const hostHeader = configured || host;
  const places = [...primary, ...backup].map((origin): OriginPlace => {
    const name = hostHeader.replace(/:\d+$/, '');
    return {
      key: addressKey(origin, site, scheme),
      host: origin.host,
      port: originPort(origin, site, scheme),
      isAddress: origin.isAddress,
      // RFC 6066 §3: an address is not a server name.
      serverName: isTlsOrigin(site, scheme) ? (isAddress(name) ? '' : name) : undefined,
      hostHeader,
    };
  });
  return [...new Map(places.map((place) => [place.key, place])).values()];
}

function isAddress(name: string): boolean {
  return name.startsWith('[') || /^[\d.]+$/.test(name);
}
