/** Where an origin's redirect leads, and whether the edge goes there. Pure. Edge rule 7, docs/decisions/0130 */
import type { Scheme } from '#http/absolute-form.ts';
import { allValues, type RawHeaders } from '#http/headers.ts';
import { isHostName, isIpLiteral } from '#sites/host-name.ts';
import { originPort, originScheme } from '#sites/origin-address.ts';
import type { Site } from '#sites/site.ts';
import type { Unfollowed } from '../reasons.ts';
import { type OriginAddress, serverName } from './choose.ts';

/** One request of a chain. */
export interface Hop {
  /** What a relative `Location` is relative to. */
  readonly url: string;
  /** Host that the site's origins are asked for. */
  readonly host: string;
  readonly target: string;
  /** A host that is not the site's. `undefined`: the site's own origins. */
  readonly elsewhere: OriginAddress | undefined;
}

export type Lead =
  | { readonly kind: 'follow'; readonly hop: Hop }
  | { readonly kind: 'stay'; readonly reason: Unfollowed };

export interface Chain {
  readonly site: Site;
  /** The client's. */
  readonly scheme: Scheme;
  /** Hops from the first on; the last one brought the redirect. */
  readonly hops: readonly [Hop, ...Hop[]];
  /** Which site of this edge has a host. */
  readonly siteOf: (host: string) => Site | undefined;
}

const MAX_FOLLOWED = 3;
/** The limit of a client's own target. */
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

/** Bytes beyond ASCII are percent-encoded as they are, whatever their charset: decoded as UTF-8, others would name another object. */
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

/** What names the site goes back to its origins, at the scheme and ports that are set for them. */
function hopTo(url: URL, { site, scheme, hops, siteOf }: Chain): Hop | undefined {
  const host = plainHost(url);
  if (!isHostName(host) && !isIpLiteral(host)) return undefined;
  const target = url.pathname + url.search;
  const known = siteOf(host);
  if (known?.id === site.id) return ownHop(site, scheme, host, target);
  if (isOwnHost(host, url, site, scheme)) return ownHop(site, scheme, hops[0].host, target);
  // It would come back to this service: the client is to go there itself.
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

/** The sourcehost, or an origin at the port that it is asked at. */
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

/** Host without brackets or a trailing dot; lower-case ASCII by the URL's own parser. */
function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
