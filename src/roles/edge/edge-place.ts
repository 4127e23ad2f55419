/** Where viewers reach the edge of this machine, for its report. */
import { networkInterfaces } from 'node:os';
import type { Config } from '#config';
import { chooseOwnAddresses } from '#dns/own-addresses.ts';
import type { EdgePlace } from '#model/edge-place.ts';

type PlaceConfig = Pick<Config, 'roles' | 'edgeAddresses' | 'edgeCoordinates' | 'edgeHttpListen' | 'edgeWeight'>;

/** `undefined` if name servers are not to hand the edge out. */
export function placeOf(config: PlaceConfig): EdgePlace | undefined {
  const { roles, edgeCoordinates, edgeHttpListen, edgeWeight: weight } = config;
  if (!roles.includes('edge') || config.edgeAddresses.length === 0) return undefined;
  return {
    addresses: ownAddressesOf(config),
    port: edgeHttpListen.port,
    ...(edgeCoordinates !== undefined && { coordinates: edgeCoordinates }),
    weight,
  };
}

/** Addresses of the edge or, if it is not handed out, of the machine. */
export function ownAddressesOf({
  edgeAddresses,
  edgeHttpListen,
}: Pick<PlaceConfig, 'edgeAddresses' | 'edgeHttpListen'>): readonly string[] {
  if (edgeAddresses !== 'auto' && edgeAddresses.length > 0) return edgeAddresses;
  const found = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
  return chooseOwnAddresses(edgeHttpListen.host, found);
}
