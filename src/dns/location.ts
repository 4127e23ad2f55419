/**
 * Where a client is: by the operator's own networks, else by a GeoIP database, else at the default place. Pure but for
 * the look-up in the database.
 */
import { firstUnits, type Network, parseNetwork, unitsOf } from '#lib/cidr.ts';
import type { Coordinates } from '#model/edge-place.ts';

export interface Location {
  /** `networks`: a network of the operator decided. `default`: nothing is known of the client. */
  readonly source: 'networks' | 'geoip' | 'default';
  /** Group that the operator has chosen for the network. */
  readonly group?: string;
  readonly coordinates?: Coordinates;
  /** Length of the prefix of the client's address whose clients are all located so; 0: everybody is. */
  readonly prefix: number;
}

/** A network of the operator, whose clients get edges of a group. */
export interface ClientNetwork {
  readonly network: Network;
  readonly group: string;
}

/**
 * Looks an address up; `undefined` without a database for addresses of its family. `coordinates`: absent if the database has
 * none for the network of this prefix.
 */
export type LookUpPlace = (
  address: string,
) => { readonly coordinates?: Coordinates; readonly prefix: number } | undefined;

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
    .map(({ network, group }) => ({ network, group, units: firstUnits(network) }));
  return (address) => {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    const asked = unitsOf(address);
    const ofFamily = ranked
      .filter(({ network }) => network.family === family)
      .map(({ network: { prefix }, group, units }) => ({ prefix, group, shared: sharedBits(asked, units) }));
    const own = ofFamily.find(({ prefix, shared }) => shared >= prefix);
    // Resolvers use an answer for all of its prefix, which must not reach into a network with another one (RFC 7871 §7.2.1).
    const apart = (decided: number) =>
      ofFamily
        .filter(({ prefix, shared }) => shared >= decided && shared < prefix)
        .reduce((longest, { shared }) => Math.max(longest, shared + 1), decided);
    if (own !== undefined) return { source: 'networks', group: own.group, prefix: apart(own.prefix) };
    const found = lookUp(address);
    const prefix = apart(found?.prefix ?? 0);
    if (found?.coordinates !== undefined) return { source: 'geoip', coordinates: found.coordinates, prefix };
    return { source: 'default', ...(fallback !== undefined && { coordinates: fallback }), prefix };
  };
}

/** Number of leading bits that two addresses of one family have in common. */
function sharedBits(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((unit, at) => unit !== other[at]);
  if (index === -1) return one.length * 16;
  return index * 16 + Math.clz32((one[index] ?? 0) ^ (other[index] ?? 0)) - 16;
}
