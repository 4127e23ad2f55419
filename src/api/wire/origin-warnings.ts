/** What is known to keep edges from a domain's origins. Pure. docs/decisions/0461 */
import { isIP } from 'node:net';
import type { EdgeReport, OriginTrouble } from '#model/edge.ts';
import { originKeys } from '#sites/origin-address.ts';
import type { Site } from '#sites/site.ts';

export interface OriginWarning {
  readonly code: 'originPrivate' | 'originForbidden' | 'originDown';
  /** `host:port` */
  readonly origin: string;
  /** The edge that reports it; absent: control knows it by the address. */
  readonly edge?: string;
}

/** Whether the guard of this service lets an edge connect there. */
export type PermitsOrigin = (address: string, port: number) => boolean;

/** One line for each origin, edge and problem. What an edge reports goes before what the address says. */
export function findOriginWarnings(
  site: Site,
  edges: readonly EdgeReport[],
  permits: PermitsOrigin,
): readonly OriginWarning[] {
  const warnings: OriginWarning[] = [];
  for (const [address, keys] of originKeys(site)) {
    const reported = edges.flatMap(({ edge, origins }) => {
      const trouble = origins.find(({ key }) => keys.has(key));
      return trouble === undefined ? [] : [{ code: CODES[trouble.state], origin: address, edge }];
    });
    const { host, port } = partsOf(address);
    const isPrivate = isIP(host) !== 0 && !permits(host, port);
    if (isPrivate && reported.length === 0) warnings.push({ code: 'originPrivate', origin: address });
    warnings.push(...reported);
  }
  return warnings;
}

const CODES = { down: 'originDown', forbidden: 'originForbidden' } as const satisfies Readonly<
  Record<OriginTrouble['state'], OriginWarning['code']>
>;

function partsOf(address: string): { readonly host: string; readonly port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}
