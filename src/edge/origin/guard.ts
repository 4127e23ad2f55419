/**
 * Decides which addresses the edge connects to. Customers name origins, so an address must be globally reachable
 * unicast unless the operator allows its range. Our own listeners and the database are refused even then.
 */
import { networkInterfaces } from 'node:os';
import { createAddressSet, plainAddress, unmapAddress } from '#lib/cidr.ts';

export interface GuardOptions {
  /** Networks that the operator opens for private origins. */
  readonly allow: readonly string[];
  /** Endpoints that are refused even inside `allow`. A wildcard host stands for every address of this machine. */
  readonly refuse: readonly Endpoint[];
  /** Addresses of this machine's interfaces, read at each decision because they change. */
  readonly localAddresses?: () => readonly string[];
}

interface Endpoint {
  /** An address or a name. A name's port is refused at every address that is not globally reachable. */
  readonly host: string;
  readonly port: number;
}

export interface Guard {
  /** Decides about the exact address that a socket will be connected to, never about a name. */
  permits(address: string, port: number): boolean;
}

/** IANA IPv4 Special-Purpose Address Registry and multicast. The few reachable exceptions inside are not origins. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Allocated global unicast; v4-mapped, NAT64, ULA, link-local and multicast lie outside. */
const GLOBAL_V6 = '2000::/3';
/** IANA IPv6 Special-Purpose Address Registry inside 2000::/3: protocol assignments and Teredo, documentation, 6to4. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/**
 * A listener on one of these listens on every address of this machine, and a connection to one reaches this machine.
 */
const UNSPECIFIED = ['0.0.0.0', '::'];
const LOOPBACK = createAddressSet(['127.0.0.0/8', '::1']);

export function createGuard({ allow, refuse, localAddresses = interfaceAddresses }: GuardOptions): Guard {
  const allowed = createAddressSet(allow);
  const special = createAddressSet([...SPECIAL_V4, ...SPECIAL_V6]);
  const globalV6 = createAddressSet([GLOBAL_V6]);
  const isGlobal = (address: string) => !special.has(address) && (address.includes(':') ? globalV6.has(address) : true);

  const isLocal = (address: string) =>
    LOOPBACK.has(address) ||
    UNSPECIFIED.includes(address) ||
    localAddresses().some((own) => plainAddress(own) === address);

  const isRefused = (address: string, endpoint: Endpoint): boolean => {
    const host = plainAddress(endpoint.host);
    if (host === undefined) return !isGlobal(address);
    if (UNSPECIFIED.includes(host)) return isLocal(address);
    return host === address || (LOOPBACK.has(host) && UNSPECIFIED.includes(address));
  };

  return {
    permits: (text, port) => {
      const address = plainAddress(text);
      // An IPv4-mapped address is a second name of an IPv4 host that no origin needs: it is refused.
      if (address === undefined || unmapAddress(text) !== text) return false;
      if (refuse.some((endpoint) => endpoint.port === port && isRefused(address, endpoint))) return false;
      return isGlobal(address) || allowed.has(address);
    },
  };
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
