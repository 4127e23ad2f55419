/** Decides where an origin's redirect leads and whether the edge follows it. Pure. Edge rule 7, docs/decisions/0130 */
import type { Scheme } from '#http/absolute-form.ts';
import { allValues, type RawHeaders } from '#http/headers.ts';
import { isHostName, isIpLiteral } from '#sites/host-name.ts';
import { originPort, originScheme } from '#sites/origin-address.ts';
import type { Site } from '#sites/site.ts';
import type { Unfollowed } from '../reasons.ts';
import { type OriginAddress, serverName } from './choose.ts';

/** One request of a redirect chain. */
export interface Hop {
  /** Base URL of a relative `Location`. */
  readonly url: string;
  /** Host that the target is asked for. */
  readonly host: string;
  readonly target: string;
  /** Address of a host that is not the site's; `undefined` if the site's own origins are asked. */
  readonly elsewhere: OriginAddress | undefined;
}

export type Lead =
  | { readonly kind: 'follow'; readonly hop: Hop }
  | { readonly kind: 'stay'; readonly reason: Unfollowed };

export interface Chain {
  readonly site: Site;
  /** Scheme of the client's request. */
  readonly scheme: Scheme;
  /** Hops from the first on; the response of the last one is the redirect. */
  readonly hops: readonly [Hop, ...Hop[]];
  /** Returns the site of this edge that has the host. */
  readonly siteOf: (host: string) => Site | undefined;
}

const MAX_FOLLOWED = 3;
/** Same limit as for a client's request target. */
const MAX_TARGET_CHARS = 8192;

export function isFollowable(status: number): boolean {
  return status === 301 || status === 302;
}

export function firstHop(site: Site, scheme: Scheme, host: string, target: string): Hop {
  return ownHop(site, scheme, host, target);
}

export function readRedirect(headers: RawHeaders, chain: Chain): Lead {
  if (chain.hops.length > MAX_FOLLOWED) return stay('limit');
  const url = readLocation(headers, currentHop(chain).url);
  if (url === undefined) return stay('target');
  const hop = hopTo(url, chain);
  if (hop === undefined) return stay('target');
  if (chain.hops.some((earlier) => isSameHop(earlier, hop))) return stay('loop');
  const isFromTls = currentHop(chain).url.startsWith('https:');
  if (hop.elsewhere !== undefined && isFromTls && url.protocol === 'http:') return stay('downgrade');
  return { kind: 'follow', hop };
}

export function currentHop({ hops }: Chain): Hop {
  return hops.at(-1) ?? hops[0];
}

function stay(reason: Unfollowed): Lead {
  return { kind: 'stay', reason };
}

/**
 * Returns the absolute URL of the only `Location`; `undefined` if it cannot be followed. Bytes beyond ASCII are
 * percent-encoded unchanged, since decoding another charset as UTF-8 would name another object.
 */
function readLocation(headers: RawHeaders, base: string): URL | undefined {
  const [location, ...others] = allValues(headers, 'location');
  if (location === undefined || others.length > 0) return undefined;
  const url = URL.parse(location.replace(BEYOND_ASCII, percentEncode), base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  if (url.username !== '' || url.password !== '' || url.port === '0') return undefined;
  return url.pathname.length + url.search.length > MAX_TARGET_CHARS ? undefined : url;
}

const BEYOND_ASCII = /[\x80-\xff]/g;

function percentEncode(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * Returns the next hop; `undefined` if it must not be followed. A URL that names the site is asked of the site's
 * origins, at the scheme and ports set for them.
 */
function hopTo(url: URL, { site, scheme, hops, siteOf }: Chain): Hop | undefined {
  const host = plainHost(url);
  if (!isHostName(host) && !isIpLiteral(host)) return undefined;
  const target = url.pathname + url.search;
  const known = siteOf(host);
  if (known?.id === site.id) return ownHop(site, scheme, host, target);
  if (isOwnHost(host, url, site, scheme)) return ownHop(site, scheme, hops[0].host, target);
  // Another site of this service: the client must follow the redirect itself.
  if (known !== undefined) return undefined;
  return { url: url.origin + target, host, target, elsewhere: describeTarget(host, url) };
}

function ownHop(site: Site, scheme: Scheme, host: string, target: string): Hop {
  const base = `${originScheme(site, scheme)}://${site.origins.hostHeader || host}`;
  return { url: base + target, host, target, elsewhere: undefined };
}

function isSameHop(a: Hop, b: Hop): boolean {
  return a.url === b.url && a.host === b.host;
}

/** Whether the host is the site's `sourcehost`, or one of its origins at that origin's port. */
function isOwnHost(host: string, url: URL, site: Site, clientScheme: Scheme): boolean {
  if (host === site.origins.hostHeader.replace(/:\d+$/, '')) return true;
  return [...site.origins.primary, ...site.origins.backup].some(
    (origin) => origin.host === host && originPort(origin, site, clientScheme) === portOf(url),
  );
}

function describeTarget(host: string, url: URL): OriginAddress {
  const port = portOf(url);
  const isTls = url.protocol === 'https:';
  return {
    key: `${host}:${port}`,
    hostHeader: url.host,
    destination: {
      host,
      port,
      isAddress: isIpLiteral(host),
      serverName: isTls ? serverName(url.host) : undefined,
    },
  };
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

/** Returns the host without brackets or a trailing dot. The URL parser has made it lower-case ASCII. */
function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
