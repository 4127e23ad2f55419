/** Which origins a request may try, in order, and what each is called on the wire. Pure. */
import type { Scheme } from '#http/absolute-form.ts';
import { addressKey, isTlsOrigin, originPort, probeHost, probeKey } from '#sites/origin-address.ts';
import type { Site, SiteOrigin } from '#sites/site.ts';
import type { Destination } from './connector.ts';
import type { ProbeTarget } from './probe-schedule.ts';

/** Attempts inside one request, the first included. */
const MAX_ATTEMPTS = 3;

/** What a request is sent to. */
export interface OriginAddress {
  /** `host:port`; equal keys are the same address. */
  readonly key: string;
  readonly destination: Destination;
  /** The `Host` field there. */
  readonly hostHeader: string;
}

export interface OriginCandidate extends OriginAddress {
  readonly siteId: number;
  readonly probe: ProbeTarget;
}

export interface Choice {
  readonly site: Site;
  /** The client's. */
  readonly scheme: Scheme;
  /** The host the client asked for, without port. */
  readonly host: string;
  /** A number that grows by one per request of the site: whose turn it is. */
  readonly turn: number;
  readonly isDown: (candidate: OriginCandidate) => boolean;
}

/**
 * Usable primaries in turn, then usable backups; those that are down come last, so that a site whose origins are all down
 * is still asked for. At most `MAX_ATTEMPTS`, no address twice.
 */
export function chooseOrigins({ site, scheme, host, turn, isDown }: Choice): readonly OriginCandidate[] {
  const describe = (origin: SiteOrigin) => describeOrigin(origin, site, scheme, host);
  const primary = rotate(site.origins.primary.map(describe), isDown, turn);
  const backup = site.origins.backup.map(describe);
  const all = [...primary, ...backup];
  const inOrder = [...all.filter((candidate) => !isDown(candidate)), ...all];
  return [...new Map(inOrder.map((candidate) => [candidate.key, candidate])).values()].slice(0, MAX_ATTEMPTS);
}

/** All of a site's origins, primaries first. */
export function listOrigins(site: Site, scheme: Scheme, host: string): readonly OriginCandidate[] {
  const { primary, backup } = site.origins;
  return [...primary, ...backup].map((origin) => describeOrigin(origin, site, scheme, host));
}

/** Turns go round among the usable ones, so that one that is down does not double the load of the next. */
function rotate(list: readonly OriginCandidate[], isDown: Choice['isDown'], turn: number): readonly OriginCandidate[] {
  const up = list.filter((candidate) => !isDown(candidate));
  const start = up.length === 0 ? 0 : turn % up.length;
  return [...up.slice(start), ...up.slice(0, start), ...list.filter(isDown)];
}

function describeOrigin(origin: SiteOrigin, site: Site, clientScheme: Scheme, host: string): OriginCandidate {
  const hostHeader = site.origins.hostHeader || host;
  const port = originPort(origin, site, clientScheme);
  const { isAddress } = origin;
  const destination = (name: string): Destination => ({
    host: origin.host,
    port,
    isAddress,
    serverName: isTlsOrigin(site, clientScheme) ? serverName(name) : undefined,
  });
  const key = addressKey(origin, site, clientScheme);
  return {
    siteId: site.id,
    key,
    hostHeader,
    destination: destination(hostHeader),
    probe: describeProbe(key, site, clientScheme, destination),
  };
}

/** Probes the monitor URL's path if there is a host to ask it for, else the connection alone. */
function describeProbe(
  address: string,
  site: Site,
  clientScheme: Scheme,
  destination: (host: string) => Destination,
): ProbeTarget {
  const key = probeKey(address, site, clientScheme);
  if (key === address) return { key, destination: { ...destination(''), serverName: undefined } };
  const host = probeHost(site);
  return { key, destination: destination(host), request: { host, target: site.origins.probePath } };
}

/** Host without the port; an IP address has no server name. RFC 6066 §3 */
export function serverName(hostHeader: string): string {
  const name = hostHeader.replace(/:\d+$/, '');
  return name.startsWith('[') || /^[\d.]+$/.test(name) ? '' : name;
}
