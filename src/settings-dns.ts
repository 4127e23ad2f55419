/** The settings of the name server, and of what it hands out of an edge. */
import { parseClientNetwork } from '#dns/location.ts';
import { plainAddress } from '#lib/cidr.ts';
import { listenAddress, listOf, mapped, oneOf, path, textThat, wholeNumber } from '#lib/setting-reader.ts';
import type { ConfigTable } from '#lib/settings.ts';
import { MAX_EDGE_ADDRESSES, MAX_EDGE_WEIGHT, parseCoordinates } from '#model/edge-place.ts';

const ZONE = /^(?=.{1,200}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/;
const coordinates = () => mapped('a latitude and a longitude in degrees, such as 52.52,13.40', parseCoordinates);

export const DNS_SETTINGS = {
  dnsEngine: {
    reader: oneOf(['embedded', 'knot']),
    default: 'embedded',
    description:
      '`knot`: Knot DNS on this machine answers, which the service feeds, and dns-listen is where it does; without dns-geoip',
  },
  dnsKnotDirectory: {
    reader: path(),
    description: 'Directory of the files for Knot, whose configuration includes `causeway.conf` from there',
  },
  dnsKnotSocket: { reader: path(), default: '/run/knot/knot.sock', description: 'Control socket of Knot' },
  dnsKnotTemplate: {
    reader: textThat('the name of a template', /^[\w-]{1,64}$/),
    description: "Template of Knot's configuration for both zones, such as one that signs them",
  },
  dnsListen: {
    reader: listenAddress(),
    default: '127.0.0.1:8753',
    description: 'Name server for the CNAMEs of domains, over UDP and TCP',
  },
  dnsRoutingZone: {
    reader: textThat('a domain name in lower case', ZONE),
    description:
      'Zone of the names that CNAMEs point to, outside of cname-suffix; by default `r` beside it: `r.example.net` for `cdn.example.net`',
  },
  dnsNameServers: {
    reader: listOf(textThat('a domain name in lower case', ZONE), 0, 8),
    default: '',
    description:
      'Names of the name servers of both zones, as the parent zone has them; by default `ns` in the routing zone, which has the addresses of this machine',
  },
  dnsTtl: {
    reader: wholeNumber(10, 300),
    default: '30',
    unit: 'seconds',
    description: 'How long resolvers keep the addresses of edges',
  },
  dnsNetworks: {
    reader: listOf(mapped('a network and a group, such as 192.0.2.0/24=eu', parseClientNetwork), 0, 1024),
    default: '',
    description: 'Clients that get edges of a group; the longest network decides',
  },
  dnsGeoip: {
    reader: path(),
    description:
      'Database with the places of networks (MMDB with `location`, of MaxMind or DB-IP); read again within a minute when it is replaced',
  },
  dnsDefaultLocation: {
    reader: coordinates(),
    description: 'Place of clients that are in neither; by default they get any edge',
  },
  edgeAddresses: {
    reader: mapped(`auto, none, or 1 to ${MAX_EDGE_ADDRESSES} IP addresses separated by commas`, parseAddresses),
    default: 'auto',
    description:
      'Addresses at which viewers reach this edge, for the name server. `auto`: those of the machine, public ones if it has any; `none`: it is not handed out',
  },
  edgeCoordinates: {
    reader: coordinates(),
    description: 'Place of this edge, for the name server; an edge without one is handed out where no other is left',
  },
  edgeWeight: {
    reader: wholeNumber(0, MAX_EDGE_WEIGHT),
    default: '100',
    description: 'Share of viewers that the name server sends to this edge beside others; 0: none',
  },
} satisfies ConfigTable;

/** `none` is an empty list. */
function parseAddresses(text: string): 'auto' | readonly string[] | undefined {
  if (text === 'auto') return text;
  if (text === 'none') return [];
  const addresses = text.split(',').map((part) => plainAddress(part.trim()));
  if (addresses.length > MAX_EDGE_ADDRESSES || !addresses.every((address) => address !== undefined)) return undefined;
  return addresses;
}
