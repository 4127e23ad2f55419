/** Chooses the origins that a request may try, in order, with the address and `Host` of each. Pure. */
import type { Scheme } from '#http/absolute-form.ts';
import { addressKey, isTlsOrigin, originPort, probeHost, probeKey } from '#sites/origin-address.ts';
import type { Site, SiteOrigin } from '#sites/site.ts';
import type { Destination } from './connector.ts';
import type { ProbeTarget } from './probe-schedule.ts';

/** Limit of attempts within one request, the first included. */
const MAX_ATTEMPTS = 3;

/** Address that a request is sent to. */
export interface OriginAddress {
  /** `host:port`; equal keys are the same address. */
  readonly key: string;
  readonly destination: Destination;
  /** Value of the request's `Host` field. */
  readonly hostHeader: string;
}

export interface OriginCandidate extends OriginAddress {
  readonly probe: ProbeTarget;
  /**
   * Key of the health mark for slow answers. It names the site, since another site may ask the same host for faster
   * answers.
   */
  readonly slowKey: string;
}

/** A site's origins, as asked for clients of one scheme and host. */
export interface Candidates {
  readonly primary: readonly OriginCandidate[];
  readonly backup: readonly OriginCandidate[];
}

/** `scheme` and `host` are the client's, the host without a port. */
export type DescribeOrigins = (site: Site, scheme: Scheme, host: string) => Candidates;

export function describeOrigins(site: Site, scheme: Scheme, host: string): Candidates {
  const describe = (origin: SiteOrigin) => describeOrigin(origin, site, scheme, host);
  return { primary: site.origins.primary.map(describe), backup: site.origins.backup.map(describe) };
}

/**
 * Returns a `describeOrigins` that caches its last result for each site: most sites have one host and requests of one
 * scheme.
 */
export function createOriginDescriber(): DescribeOrigins {
  const described = new WeakMap<Site, Candidates & { readonly scheme: Scheme; readonly host: string }>();
  return (site, scheme, host) => {
    const last = described.get(site);
    if (last?.host === host && last.scheme === scheme) return last;
    const candidates = { ...describeOrigins(site, scheme, host), scheme, host };
    described.set(site, candidates);
    return candidates;
  };
}

/**
 * Returns usable primaries in turn, then usable backups, then those that are down, so that a site whose origins are all
 * down is still served if one recovers. At most `MAX_ATTEMPTS`, no address twice. `turn` grows by one with each request
 * of the site.
 */
export function chooseOrigins(
  { primary, backup }: Candidates,
  turn: number,
  isDown: (candidate: OriginCandidate) => boolean,
): readonly OriginCandidate[] {
  if (primary.length === 1 && backup.length === 0) return primary;
  const all = [...rotate(primary, isDown, turn), ...backup];
  const inOrder = [...all.filter((candidate) => !isDown(candidate)), ...all];
  return [...new Map(inOrder.map((candidate) => [candidate.key, candidate])).values()].slice(0, MAX_ATTEMPTS);
}

/** Round-robin among the usable origins only, so that one that is down does not double the load of the next. */
function rotate(
  list: readonly OriginCandidate[],
  isDown: (candidate: OriginCandidate) => boolean,
  turn: number,
): readonly OriginCandidate[] {
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
    key,
    hostHeader,
    destination: destination(hostHeader),
    probe: describeProbe(key, site, clientScheme, destination),
    slowKey: `${site.id} ${key} ${hostHeader}`,
  };
}

/**
 * Describes a probe of the monitor URL, or of the connection alone if the site has no monitor URL that can be asked
 * for.
 */
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

/** Returns the host without its port; empty for an IP address, which is not a server name. RFC 6066 §3 */
export function serverName(hostHeader: string): string {
  const name = hostHeader.replace(/:\d+$/, '');
  return name.startsWith('[') || /^[\d.]+$/.test(name) ? '' : name;
}
