/**
 * Resolves names of origins: `/etc/hosts`, then DNS. The system's resolver is not used, since its look-ups share four
 * threads with the disk, and one slow name server would delay every origin. docs/decisions/0045
 */
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { Lru } from '#lib/lru.ts';
import { createShares } from '#lib/shares.ts';

/** Resolves to all addresses of a name in order of preference; rejects if there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ResolverOptions {
  /** Milliseconds that never step back. */
  readonly monotonic: () => number;
  /** Name servers as `address:port`, instead of the machine's. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  /**
   * Limit of concurrent look-ups, 500 if absent. Further ones are refused, and so are those beyond a zone's fair share.
   */
  readonly maxLookups?: number;
}

/** Limit for one name, for both families and every server together. */
const LOOKUP_TIMEOUT_MS = 4_000;
/** Initial time limit of one server; it grows with each try. */
const SERVER_TIMEOUT_MS = 1_000;
const TRIES = 3;
/** How long the second address family is waited for after the first has answered. */
const SECOND_FAMILY_MS = 200;
/** Limit of look-ups of one worker, each with two sockets. */
const MAX_LOOKUPS = 500;
/** Trailing labels that make up a zone: names below it are likely to share unresponsive servers. */
const ZONE_LABELS = 2;
const MAX_NAMES = 10_000;
const MAX_ADDRESSES = 64;
/** Bounds for the TTLs of name servers. */
const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
/** Lifetime of a name from the hosts file, and of one that does not exist. */
const LOCAL_TTL_MS = 5_000;
/** Time before a name whose servers did not answer is looked up again. */
const FAILED_TTL_MS = 10_000;
/** Time for which the last known addresses are used while the servers do not answer. RFC 8767 §5 */
const STALE_MS = 3_600_000;

interface Known {
  /** Empty if the name has none. */
  readonly addresses: readonly string[];
  readonly freshUntil: number;
  readonly usableUntil: number;
}

type Found =
  | { readonly kind: 'found'; readonly addresses: readonly string[]; readonly ttlMs: number }
  | { readonly kind: 'absent' }
  /** No server answered. */
  | { readonly kind: 'unanswered' };

/** Single flight: concurrent look-ups of one name share a query, and its answer is cached. */
export function createResolver(options: ResolverOptions): Resolve {
  const { monotonic, servers, hostsFile = '/etc/hosts', maxLookups = MAX_LOOKUPS } = options;
  const names = new Lru<string, Known>({ maxWeight: MAX_NAMES });
  const underWay = new Map<string, Promise<readonly string[]>>();
  const places = createShares(maxLookups);

  const note = (name: string, addresses: readonly string[], freshMs: number, usableUntil?: number) => {
    const freshUntil = monotonic() + freshMs;
    names.set(name, { addresses, freshUntil, usableUntil: usableUntil ?? freshUntil + STALE_MS });
    return addresses;
  };

  const lastKnown = (name: string): readonly string[] => {
    const known = names.get(name);
    return known === undefined || known.usableUntil < monotonic() ? [] : known.addresses;
  };

  const ask = async (name: string): Promise<readonly string[]> => {
    const local = readHosts(await readFile(hostsFile, 'utf8').catch(() => ''), name);
    if (local.length > 0) return note(name, local, LOCAL_TTL_MS);
    const found = await lookUp(name, servers);
    if (found.kind === 'found') return note(name, found.addresses, found.ttlMs);
    if (found.kind === 'absent') return note(name, [], LOCAL_TTL_MS);
    return note(name, lastKnown(name), FAILED_TTL_MS, names.get(name)?.usableUntil);
  };

  const askOnce = (name: string): Promise<readonly string[]> => {
    const asked = underWay.get(name);
    if (asked !== undefined) return asked;
    const zone = name.split('.').slice(-ZONE_LABELS).join('.');
    if (!places.mayTake(zone, 1)) return Promise.resolve(lastKnown(name));
    places.add(zone, 1);
    const answer = ask(name).finally(() => {
      underWay.delete(name);
      places.add(zone, -1);
    });
    underWay.set(name, answer);
    return answer;
  };

  return async (host) => {
    const name = host.toLowerCase();
    const known = names.get(name);
    const addresses = known !== undefined && known.freshUntil > monotonic() ? known.addresses : await askOnce(name);
    if (addresses.length === 0) throw new Error('no address');
    return addresses;
  };
}

/** Uses a new resolver per look-up: it reads the machine's list of servers again, and can be cancelled. */
async function lookUp(name: string, servers: readonly string[] | undefined): Promise<Found> {
  const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const timers = [setTimeout(() => resolver.cancel(), LOOKUP_TIMEOUT_MS)];
  const hurry = (found: Found): Found => {
    if (found.kind === 'found') timers.push(setTimeout(() => resolver.cancel(), SECOND_FAMILY_MS));
    return found;
  };
  const families = [
    resolver.resolve4(name, { ttl: true }).then(readRecords, readProblem).then(hurry),
    resolver.resolve6(name, { ttl: true }).then(readRecords, readProblem).then(hurry),
  ];
  const found = await Promise.all(families);
  for (const timer of timers) clearTimeout(timer);
  return joinFamilies(found);
}

function readRecords(records: readonly { readonly address: string; readonly ttl: number }[]): Found {
  const ttlMs = Math.min(...records.map(({ ttl }) => ttl)) * 1000;
  const addresses = records.map(({ address }) => address).slice(0, MAX_ADDRESSES);
  return { kind: 'found', addresses, ttlMs: Math.min(Math.max(ttlMs, MIN_TTL_MS), MAX_TTL_MS) };
}

function readProblem(error: NodeJS.ErrnoException): Found {
  const isAbsent = error.code === 'ENOTFOUND' || error.code === 'ENODATA' || error.code === 'EBADNAME';
  return { kind: isAbsent ? 'absent' : 'unanswered' };
}

/** Puts IPv4 first: it works wherever either does. */
function joinFamilies(families: readonly Found[]): Found {
  const found = families.filter((family) => family.kind === 'found');
  if (found.length > 0) {
    const addresses = found.flatMap((family) => family.addresses);
    return { kind: 'found', addresses, ttlMs: Math.min(...found.map(({ ttlMs }) => ttlMs)) };
  }
  return families.find(({ kind }) => kind === 'unanswered') ?? { kind: 'absent' };
}

/** Returns all addresses of the name in the hosts file. hosts(5) */
function readHosts(text: string, name: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    return isIP(address) !== 0 && names.some((written) => written.toLowerCase() === name) ? [address] : [];
  });
}
