/**
 * Where a client is: by the operator's own networks, else by a GeoIP database, else at the default place. Pure but for
 * the look-up in the database.
 */
import { firstUnits, type Network, parseNetwork } from '#lib/cidr.ts';
import type { Coordinates } from '#model/edge-place.ts';

export interface Location {
  /** `networks`: a network of the operator decided. `default`: nothing is known of the client. */
  readonly source: 'networks' | 'geoip' | 'default';
  /** Group that the operator has chosen for the network. */
  readonly group?: string;
  readonly coordinates?: Coordinates;
  /** Length of the prefix of the client's address that decided; 0: none. */
  readonly prefix: number;
}

/** A network of the operator, whose clients get edges of a group. */
export interface ClientNetwork {
  readonly network: Network;
  readonly group: string;
}

/** Looks an address up; `undefined` if the database has no coordinates for it. */
export type LookUpPlace = (
  address: string,
) => { readonly coordinates: Coordinates; readonly prefix: number } | undefined;

export interface LocatorOptions {
  readonly networks: readonly ClientNetwork[];
  readonly lookUp: LookUpPlace;
  readonly fallback: Coordinates | undefined;
}

/** Parses `192.0.2.0/24=eu`. */
export function parseClientNetwork(text: string): ClientNetwork | undefined {
  const [, written = '', group = ''] = /^([\da-fA-F.:/]+)=([a-z0-9-]{1,32})$/.exec(text) ?? [];
  const network = parseNetwork(written);
  return network && { network, group };
}

/** Returns the function that locates an address, in canonical form. */
export function createLocator({ networks, lookUp, fallback }: LocatorOptions): (address: string) => Location {
  // The longest prefix decides.
  const ranked = networks
    .toSorted((one, other) => other.network.prefix - one.network.prefix)
    .map(({ network, group }) => ({ network, group, units: firstUnits(network).join() }));
  return (address) => {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    const own = ranked.find(({ network: { family: its, prefix }, units }) => {
      return its === family && firstUnits({ family, address, prefix }).join() === units;
    });
    if (own !== undefined) return { source: 'networks', group: own.group, prefix: own.network.prefix };
    const found = lookUp(address);
    if (found !== undefined) return { source: 'geoip', ...found };
    return { source: 'default', ...(fallback !== undefined && { coordinates: fallback }), prefix: 0 };
  };
}
