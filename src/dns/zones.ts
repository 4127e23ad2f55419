/** The two zones: one with a name for each domain, and a small one with a name for each set of groups. */

export interface DnsZones {
  /** Zone of the CNAMEs: `cdn.example.net`. */
  readonly suffix: string;
  /** Zone of the addresses: `r.example.net`. */
  readonly routing: string;
  /** Names of the name servers, the first of which is the primary one of the SOA records. */
  readonly nameServers: readonly string[];
}

/** Label in the routing zone under which the name server itself has addresses. */
export const OWN_LABEL = 'ns';

/** Returns the routing zone of a suffix that has no other one: `r` beside it. */
export function defaultRoutingZone(suffix: string): string {
  const parent = suffix.slice(suffix.indexOf('.') + 1);
  return parent === suffix ? `${suffix}-r` : `r.${parent}`;
}

/** Whether a name is a zone's, or lies in it. */
export function isInZone(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

/** The name less the zone; empty for the zone's own, `undefined` if it lies elsewhere. */
export function labelsIn(name: string, zone: string): string | undefined {
  if (!isInZone(name, zone)) return undefined;
  return name === zone ? '' : name.slice(0, -zone.length - 1);
}
