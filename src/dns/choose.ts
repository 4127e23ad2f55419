/**
 * The addresses that a client gets: of the edges near it that are well, at most four of each family, and the same ones
 * for the same client. Pure. docs/decisions/0721
 */
import { plainNetwork } from '#lib/cidr.ts';
import type { Coordinates } from '#model/edge-place.ts';
import type { Location } from './location.ts';
import type { RoutedEdge } from './routing-table.ts';

/**
 * `up`: it answers, or is not known to be ill. `down`: probes fail. `out`: it drains, or says itself that it should get
 * no viewers.
 */
export type EdgeVerdict = 'up' | 'down' | 'out';

export type Family = 4 | 6;

/** An address that may be handed out. */
export interface EdgeCandidate {
  readonly edge: RoutedEdge;
  readonly address: string;
  readonly verdict: EdgeVerdict;
}

export interface Choice {
  readonly addresses: readonly string[];
  /** Length of the prefix of the client's address that the choice depends on; 0: none. */
  readonly prefix: number;
}

/** Addresses of a family in an answer. */
const MAX_ADDRESSES = 4;
/** Clients of one network get the same edges: lengths of its prefix. */
const NETWORK_PREFIX = { 4: 24, 6: 48 } as const;
/** An edge is near enough at this many times the distance of the nearest one, and this much more. */
const NEAR_FACTOR = 1.25;
const NEAR_KM = 200;
const EARTH_RADIUS_KM = 6371;

export function candidatesOf(
  edges: readonly RoutedEdge[],
  family: Family,
  verdictOf: (edge: RoutedEdge, address: string) => EdgeVerdict,
): readonly EdgeCandidate[] {
  return edges.flatMap((edge) =>
    edge.addresses
      .filter((address) => familyOf(address) === family)
      .map((address) => ({ edge, address, verdict: verdictOf(edge, address) })),
  );
}

function familyOf(address: string): Family {
  return address.includes(':') ? 6 : 4;
}

/** The candidates that may be handed out, and whether probes are ignored because too many fail. */
export interface Usable {
  readonly candidates: readonly EdgeCandidate[];
  readonly isPanic: boolean;
}

/**
 * If probes find more than half of a set down, the fault is likely to be this machine's own: probes are ignored. An empty
 * list is never answered.
 */
export function usableOf(all: readonly EdgeCandidate[]): Usable {
  const wanted = all.filter(({ verdict }) => verdict !== 'out');
  const up = wanted.filter(({ verdict }) => verdict === 'up');
  const isPanic = (wanted.length - up.length) * 2 > wanted.length;
  const usable = isPanic ? wanted : up;
  return { candidates: usable.length > 0 ? usable : all, isPanic };
}

/** `client`: the client's address. */
export function chooseAddresses(usable: readonly EdgeCandidate[], client: string, location: Location): Choice {
  const near = nearestOf(usable, location);
  if (near.candidates.length <= MAX_ADDRESSES)
    return { addresses: ranked(near.candidates, client).slice(0, MAX_ADDRESSES), prefix: near.prefix };
  const prefix = Math.max(near.prefix, NETWORK_PREFIX[familyOf(client)]);
  return { addresses: ranked(near.candidates, client).slice(0, MAX_ADDRESSES), prefix };
}

function nearestOf(usable: readonly EdgeCandidate[], { group, coordinates, prefix }: Location) {
  if (group !== undefined) {
    const ofGroup = usable.filter(({ edge }) => edge.group === group);
    return { candidates: ofGroup.length > 0 ? ofGroup : usable, prefix };
  }
  if (coordinates === undefined) return { candidates: usable, prefix };
  const distances = usable.map(({ edge }) => distanceKm(coordinates, edge.coordinates));
  const limit = Math.min(...distances) * NEAR_FACTOR + NEAR_KM;
  return { candidates: usable.filter((_, index) => (distances[index] ?? 0) <= limit), prefix };
}

/** Great-circle distance; an edge whose place is not known is beyond all others. */
export function distanceKm(from: Coordinates, to: Coordinates | undefined): number {
  if (to === undefined) return Number.POSITIVE_INFINITY;
  const [north, otherNorth] = [radians(from.latitude), radians(to.latitude)];
  const dNorth = otherNorth - north;
  const dEast = radians(to.longitude - from.longitude);
  const half = Math.sin(dNorth / 2) ** 2 + Math.cos(north) * Math.cos(otherNorth) * Math.sin(dEast / 2) ** 2;
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(half)));
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

/** Weighted rendezvous hashing: a change of one edge moves only the clients that it had or gets. */
function ranked(candidates: readonly EdgeCandidate[], client: string): readonly string[] {
  const network = plainNetwork(`${client}/${NETWORK_PREFIX[familyOf(client)]}`) ?? client;
  return candidates
    .map(({ edge, address }) => ({ address, cost: -Math.log(shareOf(`${edge.edge} ${network}`)) / edge.weight }))
    .sort((one, other) => one.cost - other.cost)
    .map(({ address }) => address);
}

/** Returns a number between 0 and 1, both excluded, that depends evenly on the text: FNV-1a, then the mixer of MurmurHash3. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}
