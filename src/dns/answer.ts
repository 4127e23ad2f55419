/** What a name server answers: from the names of domains, the routing table, and where the client is. Pure. */
import { CLASS_IN, type Query, RCODES, TYPES } from './packet.ts';
import { NEGATIVE_SECONDS, type ResourceRecord, type Response } from './response.ts';
import { type DnsZones, labelsIn, OWN_LABEL } from './zones.ts';

/** What the answers are made of, as of now. */
export interface ZoneView {
  readonly zones: DnsZones;
  /** Revision of the settings, from which serial numbers follow; 0 before the first settings. */
  readonly revision: number;
  /** Seconds for which resolvers keep addresses. */
  readonly ttl: number;
  /** Addresses of the name server itself. */
  readonly ownAddresses: readonly string[];
  /** Returns the label of the set that a name below the suffix points to. */
  findTarget(
    name: string,
  ): { readonly kind: 'target'; readonly label: string } | { readonly kind: 'empty' } | { readonly kind: 'none' };
  /**
   * Returns the addresses of a set for the client; `unknown` if there is no such set, `starting` if edges have not been
   * probed yet.
   */
  route(label: string, family: 4 | 6, client: Client): Route | 'unknown' | 'starting';
}

export interface Client {
  /** The client's address or, without a subnet in the query, its resolver's. */
  readonly address: string;
  readonly isSubnet: boolean;
}

export interface Route {
  readonly addresses: readonly string[];
  /** Prefix of the client's address that decided; 0: none. */
  readonly prefix: number;
}

/** A domain keeps its set for years, and a set its name: resolvers may keep the CNAME longer than addresses. */
export const CNAME_SECONDS = 300;
const ZONE_SECONDS = 3600;

const REFUSED: Response = {
  rcode: RCODES.refused,
  isAuthoritative: false,
  answers: [],
  authorities: [],
  scope: 0,
};

/** Makes a resolver ask another server. */
export const SERVER_FAILURE: Response = { ...REFUSED, rcode: RCODES.serverFailure };

export function answerQuery(query: Query, resolver: string, view: ZoneView): Response {
  const { name, type } = query;
  if (query.class !== CLASS_IN || type === TYPES.AXFR || type === TYPES.IXFR) return REFUSED;
  const client = clientOf(query, resolver);
  // The zone of the CNAMEs first: it may lie in the routing zone, but not the other way round.
  const inSuffix = labelsIn(name, view.zones.suffix);
  const inRouting = labelsIn(name, view.zones.routing);
  if (inSuffix === undefined && inRouting === undefined) return REFUSED;
  if (view.revision === 0) return SERVER_FAILURE; // without settings nothing is known to be absent
  return inSuffix === undefined
    ? answerRouting({ name, labels: inRouting ?? '', type, client }, view)
    : answerSuffix({ name, labels: inSuffix, type, client }, view);
}

/** A subnet of length 0 is that of a client that does not want to be located (RFC 7871 §7.1.2). */
function clientOf({ edns }: Query, resolver: string): Client {
  const subnet = edns?.subnet;
  return subnet === undefined || subnet.prefix === 0
    ? { address: resolver, isSubnet: false }
    : { address: subnet.address, isSubnet: true };
}

interface Asked {
  readonly name: string;
  /** The name less its zone. */
  readonly labels: string;
  readonly type: number;
  readonly client: Client;
}

function answerSuffix(asked: Asked, view: ZoneView): Response {
  const { name, labels, type } = asked;
  const zone = view.zones.suffix;
  if (labels === '') return answerApex(zone, type, view);
  const found = view.findTarget(labels);
  if (found.kind === 'none') return negative(RCODES.nameError, zone, view);
  if (found.kind === 'empty') return type === TYPES.ANY ? minimalAny(name) : negative(RCODES.noError, zone, view);
  if (type === TYPES.ANY) return minimalAny(name);
  const target = `${found.label}.${view.zones.routing}`;
  const cname: ResourceRecord = { kind: 'cname', name, ttl: CNAME_SECONDS, target };
  if (type === TYPES.CNAME) return positive([cname]);
  const routed = answerRouting({ ...asked, name: target, labels: found.label }, view);
  if (routed.rcode === RCODES.serverFailure) return positive([cname]); // the target is asked for apart
  return { ...routed, answers: [cname, ...routed.answers] };
}

function answerRouting({ name, labels, type, client }: Asked, view: ZoneView): Response {
  const zone = view.zones.routing;
  if (labels === '') return answerApex(zone, type, view);
  if (labels === OWN_LABEL) return answerAddresses({ name, type, addresses: view.ownAddresses, scope: 0 }, view);
  const families = type === TYPES.AAAA ? ([6] as const) : ([4] as const);
  const route = view.route(labels, families[0], client);
  if (route === 'unknown') return negative(RCODES.nameError, zone, view);
  if (route === 'starting') return SERVER_FAILURE;
  // Another server answers for this client with other edges, so negative answers have a scope too.
  const scope = client.isSubnet ? route.prefix : 0;
  return answerAddresses({ name, type, addresses: route.addresses, scope }, view);
}

function answerAddresses(
  asked: {
    readonly name: string;
    readonly type: number;
    readonly addresses: readonly string[];
    readonly scope: number;
  },
  view: ZoneView,
): Response {
  const { name, type, addresses, scope } = asked;
  if (type === TYPES.ANY) return minimalAny(name);
  const wanted = addresses.filter((address) => type === (address.includes(':') ? TYPES.AAAA : TYPES.A));
  if (wanted.length === 0) return { ...negative(RCODES.noError, view.zones.routing, view), scope };
  const records = wanted.map((address): ResourceRecord => ({ kind: 'address', name, ttl: view.ttl, address }));
  return { ...positive(records), scope };
}

function answerApex(zone: string, type: number, view: ZoneView): Response {
  if (type === TYPES.ANY) return minimalAny(zone);
  if (type === TYPES.SOA) return positive([soaOf(zone, ZONE_SECONDS, view)]);
  if (type !== TYPES.NS) return negative(RCODES.noError, zone, view);
  return positive(
    view.zones.nameServers.map((target): ResourceRecord => ({ kind: 'ns', name: zone, ttl: ZONE_SECONDS, target })),
  );
}

function positive(answers: readonly ResourceRecord[]): Response {
  return { rcode: RCODES.noError, isAuthoritative: true, answers, authorities: [], scope: 0 };
}

/** RFC 2308 §3: resolvers keep it for the TTL of the SOA record. */
function negative(rcode: number, zone: string, view: ZoneView): Response {
  return {
    rcode,
    isAuthoritative: true,
    answers: [],
    authorities: [soaOf(zone, NEGATIVE_SECONDS, view)],
    scope: 0,
  };
}

/** RFC 8482 §4.2: nobody needs all records at once, but attackers. */
function minimalAny(name: string): Response {
  return positive([{ kind: 'hinfo', name, ttl: ZONE_SECONDS, text: 'RFC8482' }]);
}

function soaOf(zone: string, ttl: number, { zones, revision }: ZoneView): ResourceRecord {
  const [primary = zone] = zones.nameServers;
  const soa = { primary, mailbox: `hostmaster.${zone}`, serial: revision % 2 ** 32 };
  return { kind: 'soa', name: zone, ttl, soa };
}
