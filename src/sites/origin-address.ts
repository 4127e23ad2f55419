/** Addresses and health keys of origins. The edge that probes an origin and control that shows it make the same keys. Pure. */
import { hash } from 'node:crypto';
import type { Scheme } from '#http/absolute-form.ts';
import type { OriginProtocol } from '#model/domain.ts';
import type { Site, SiteOrigin } from './site.ts';

/** A scheme in which an origin is asked. */
type OriginScheme = Exclude<OriginProtocol, 'follow'>;

/** The default port of each scheme, and whether its connections are TLS. A scheme without a row does not compile. */
const SCHEMES: Readonly<Record<OriginScheme, { readonly port: number; readonly isTls: boolean }>> = {
  http: { port: 80, isTls: false },
  https: { port: 443, isTls: true },
};

/** Longest path and query of a monitor URL in a key. */
const MAX_KEY_TARGET_CHARS = 64;

export function originScheme({ origins: { protocol } }: Site, clientScheme: Scheme): OriginScheme {
  return schemeOf(protocol, clientScheme);
}

function schemeOf(protocol: OriginProtocol, clientScheme: Scheme): OriginScheme {
  return protocol === 'follow' ? clientScheme : protocol;
}

export function isTlsOrigin(site: Site, clientScheme: Scheme): boolean {
  return SCHEMES[originScheme(site, clientScheme)].isTls;
}

/** The port of an origin that is given without one; for `follow` that of http. */
export function defaultPort(protocol: OriginProtocol): number {
  return SCHEMES[schemeOf(protocol, 'http')].port;
}

/** The port that is asked. With `follow`, a written default port of either scheme means that of the client's. Edge rule 2 */
export function originPort({ port }: SiteOrigin, site: Site, clientScheme: Scheme): number {
  const { port: own } = SCHEMES[originScheme(site, clientScheme)];
  const isDefault = port === SCHEMES.http.port || port === SCHEMES.https.port;
  return port === undefined || (site.origins.protocol === 'follow' && isDefault) ? own : port;
}

/** `host:port`; equal keys are the same address. */
export function addressKey(origin: SiteOrigin, site: Site, clientScheme: Scheme): string {
  return `${origin.host}:${originPort(origin, site, clientScheme)}`;
}

/** The host of a probe's request; empty if none is known. */
export function probeHost({ name, isWildcard, origins }: Site): string {
  return origins.hostHeader || (isWildcard ? (origins.probeHost ?? '') : name);
}

/** Key of a probe: the address, and behind a blank the URL that is requested, unless the probe only connects. */
export function probeKey(address: string, site: Site, clientScheme: Scheme): string {
  const host = probeHost(site);
  const target = site.origins.probePath;
  if (target === '' || host === '') return address;
  return `${address} ${originScheme(site, clientScheme)}://${host}${shorten(target)}`;
}

/** Keys by which edges may report on each of the site's origins: by address, for both schemes of a client. */
export function originKeys(site: Site): ReadonlyMap<string, ReadonlySet<string>> {
  const schemes: readonly Scheme[] = ['http', 'https'];
  const origins = [...site.origins.primary, ...site.origins.backup];
  const addresses = origins.flatMap((origin) => schemes.map((scheme) => addressKey(origin, site, scheme)));
  const keysOf = (address: string) => new Set([address, ...schemes.map((scheme) => probeKey(address, site, scheme))]);
  return new Map(addresses.map((address) => [address, keysOf(address)]));
}

/** Cuts a long target and adds its digest, since a report has thousands of keys. */
function shorten(target: string): string {
  if (target.length <= MAX_KEY_TARGET_CHARS) return target;
  return `${target.slice(0, MAX_KEY_TARGET_CHARS)}#${hash('sha256', target, 'base64url')}`;
}
