/** The files of Knot DNS: both zones, and what its module geoip answers in the routing zone. Pure. docs/decisions/0723 */
import { isIP } from 'node:net';
import { CNAME_SECONDS } from '../answer.ts';
import { NEGATIVE_SECONDS } from '../response.ts';
import { type DnsZones, OWN_LABEL } from '../zones.ts';

/** The answers of a set to clients of a network. */
interface NetworkAnswer {
  /** `192.0.2.0/24`; those of a set cover all addresses. */
  readonly network: string;
  readonly addresses: readonly string[];
}

export interface SetAnswers {
  readonly label: string;
  readonly answers: readonly NetworkAnswer[];
}

/** Thrown if something is to be written that could be read as more than a name or an address. */
class RenderError extends Error {}

const ZONE_SECONDS = 3600;

/** `names`: names below the suffix, each with the label of its set. */
export function renderSuffixZone(zones: DnsZones, names: Iterable<readonly [name: string, label: string]>): string {
  const lines = [renderApex(zones.suffix, zones)];
  for (const [name, label] of names) lines.push(renderName(name, label, zones));
  return lines.join('');
}

function renderName(name: string, label: string, zones: DnsZones): string {
  return `${renderRecord(name, label, zones).join(' ')}\n`;
}

/** The record of a domain in words, as the zone file and Knot's commands have it. */
export function renderRecord(name: string, label: string, { routing }: DnsZones): readonly string[] {
  return [plain(name), String(CNAME_SECONDS), 'CNAME', `${plain(label)}.${routing}.`];
}

/**
 * Each set has the addresses of its first network as static records: they are what Knot answers should its module not be
 * loaded, and what DNSSEC needs.
 */
export function renderRoutingZone(
  zones: DnsZones,
  sets: readonly SetAnswers[],
  { ttl, ownAddresses }: { readonly ttl: number; readonly ownAddresses: readonly string[] },
): string {
  const lines = [renderApex(zones.routing, zones)];
  const add = (label: string, addresses: readonly string[]) => {
    for (const address of addresses) lines.push(`${plain(label)} ${ttl} ${typeOf(address)} ${address}\n`);
  };
  add(OWN_LABEL, ownAddresses);
  for (const { label, answers } of sets) add(label, answers[0]?.addresses ?? []);
  return lines.join('');
}

/** The file of the module geoip, mode subnet. */
export function renderGeoip(zones: DnsZones, sets: readonly SetAnswers[]): string {
  return sets
    .filter(({ answers }) => answers.some(({ addresses }) => addresses.length > 0))
    .map(({ label, answers }) => {
      const networks = answers.filter(({ addresses }) => addresses.length > 0).map(renderNetwork);
      return `${plain(label)}.${zones.routing}:\n${networks.join('')}`;
    })
    .join('');
}

function renderNetwork({ network, addresses }: NetworkAnswer): string {
  const ofType = (type: 'A' | 'AAAA') => {
    const own = addresses.filter((address) => typeOf(address) === type);
    return own.length === 0 ? '' : `    ${type}: [ ${own.join(', ')} ]\n`;
  };
  return `  - net: ${network}\n${ofType('A')}${ofType('AAAA')}`;
}

/** The zones' part of the configuration, to be included in the operator's. `template`: of the operator's own. */
export function renderConfig(
  zones: DnsZones,
  {
    directory,
    ttl,
    template,
  }: { readonly directory: string; readonly ttl: number; readonly template: string | undefined },
): string {
  const common = [
    ...(template === undefined ? [] : [`    template: ${template}\n`]),
    '    zonefile-load: difference-no-serial\n',
    '    journal-content: all\n',
    '    zonefile-sync: -1\n',
    '    serial-policy: increment\n',
  ].join('');
  return `mod-geoip:
  - id: causeway
    config-file: ${directory}/${FILES.geoip}
    ttl: ${ttl}
    mode: subnet

zone:
  - domain: ${zones.suffix}
    file: ${directory}/${FILES.suffix}
${common}  - domain: ${zones.routing}
    file: ${directory}/${FILES.routing}
    module: mod-geoip/causeway
${common}`;
}

/** Names of the files in the directory that Knot reads. */
export const FILES = {
  config: 'causeway.conf',
  suffix: 'suffix.zone',
  routing: 'routing.zone',
  geoip: 'geoip.conf',
} as const;

function renderApex(zone: string, { nameServers }: DnsZones): string {
  const [primary = zone] = nameServers;
  const soa = `@ ${ZONE_SECONDS} SOA ${primary}. hostmaster.${zone}. 1 3600 600 604800 ${NEGATIVE_SECONDS}\n`;
  return `$ORIGIN ${zone}.\n${soa}${nameServers.map((name) => `@ ${ZONE_SECONDS} NS ${name}.\n`).join('')}`;
}

function typeOf(address: string): 'A' | 'AAAA' {
  if (isIP(address) === 0) throw new RenderError(`not an address: ${JSON.stringify(address)}`);
  return address.includes(':') ? 'AAAA' : 'A';
}

/** Names are never quoted, which the module does not parse. */
function plain(name: string): string {
  if (/^[a-z0-9*_-]+(\.[a-z0-9*_-]+)*$/.test(name)) return name;
  throw new RenderError(`not a name that may be written: ${JSON.stringify(name)}`);
}
