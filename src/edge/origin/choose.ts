/** Which origins a request may try, in order, and what each is called on the wire. Pure. */
import { hash } from 'node:crypto';
import type { Site, SiteOrigin } from '#sites/site.ts';
import type { Destination } from './connector.ts';
import type { ProbeTarget } from './probe-schedule.ts';

/** Attempts inside one request, the first included. */
const MAX_ATTEMPTS = 3;
/** Of a monitor URL's path and query, in what its health is kept under. */
const MAX_KEY_TARGET_CHARS = 64;

export type Scheme = 'http' | 'https';

/** What a request is sent to. */
export interface Place {
  /** `host:port`; equal keys are the same address. */
  readonly key: string;
  readonly destination: Destination;
  /** The `Host` field there. */
  readonly hostHeader: string;
}

export interface Candidate extends Place {
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
  readonly isDown: (candidate: Candidate) => boolean;
}

/**
 * Usable primaries in turn, then usable backups; those that are down come last, so that a site whose origins are all down
 * is still asked for. At most `MAX_ATTEMPTS`, no address twice.
 */
export function chooseOrigins({ site, scheme, host, turn, isDown }: Choice): readonly Candidate[] {
  const describe = (origin: SiteOrigin) => describeOrigin(origin, site, scheme, host);
  const primary = rotate(site.origins.primary.map(describe), isDown, turn);
  const backup = site.origins.backup.map(describe);
  const all = [...primary, ...backup];
  const inOrder = [...all.filter((candidate) => !isDown(candidate)), ...all];
  return [...new Map(inOrder.map((candidate) => [candidate.key, candidate])).values()].slice(0, MAX_ATTEMPTS);
}

/** Turns go round among the usable ones, so that one that is down does not double the load of the next. */
function rotate(list: readonly Candidate[], isDown: Choice['isDown'], turn: number): readonly Candidate[] {
  const up = list.filter((candidate) => !isDown(candidate));
  const start = up.length === 0 ? 0 : turn % up.length;
  return [...up.slice(start), ...up.slice(0, start), ...list.filter(isDown)];
}

function describeOrigin(origin: SiteOrigin, site: Site, clientScheme: Scheme, host: string): Candidate {
  const scheme = originScheme(site, clientScheme);
  const hostHeader = site.origins.hostHeader || host;
  const port = originPort(origin, site, clientScheme);
  const { isAddress } = origin;
  const destination = (name: string): Destination => ({
    host: origin.host,
    port,
    isAddress,
    serverName: scheme === 'https' ? serverName(name) : undefined,
  });
  const key = `${origin.host}:${port}`;
  return {
    siteId: site.id,
    key,
    hostHeader,
    destination: destination(hostHeader),
    probe: describeProbe(key, site, scheme, destination),
  };
}

/** By the monitor URL's path where there is a host to ask it for, else by a connection alone. */
function describeProbe(
  address: string,
  { name, isWildcard, origins }: Site,
  scheme: Scheme,
  destination: (host: string) => Destination,
): ProbeTarget {
  const host = origins.hostHeader || (isWildcard ? (origins.probeHost ?? '') : name);
  const target = origins.probePath;
  if (target === '' || host === '') {
    return { key: address, destination: { ...destination(''), serverName: undefined } };
  }
  const key = `${address} ${scheme}://${host}${shorten(target)}`;
  return { key, destination: destination(host), request: { host, target } };
}

/** Thousands of them stand in one report: a long one is named by its beginning and its digest. */
function shorten(target: string): string {
  if (target.length <= MAX_KEY_TARGET_CHARS) return target;
  return `${target.slice(0, MAX_KEY_TARGET_CHARS)}#${hash('sha256', target, 'base64url')}`;
}

export function originScheme({ origins: { protocol } }: Site, clientScheme: Scheme): Scheme {
  return protocol === 'follow' ? clientScheme : protocol;
}

/** The default ports, also where `follow` finds the other scheme's default written down. Edge rule 2. */
export function originPort({ port }: SiteOrigin, site: Site, clientScheme: Scheme): number {
  const isTls = originScheme(site, clientScheme) === 'https';
  const [own, other] = isTls ? [443, 80] : [80, 443];
  return port === undefined || (site.origins.protocol === 'follow' && port === other) ? own : port;
}

/** Without the port; an IP address has no server name. RFC 6066 §3 */
export function serverName(hostHeader: string): string {
  const name = hostHeader.replace(/:\d+$/, '');
  return name.startsWith('[') || /^[\d.]+$/.test(name) ? '' : name;
}
