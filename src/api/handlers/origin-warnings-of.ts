/** What is known to keep the edges of a domain from its origins. */
import { listServingEdges } from '#db/tables/serving-edges.ts';
import type { Domain } from '#model/domain.ts';
import type { EdgeReport } from '#model/edge.ts';
import { compileSite } from '#sites/compile.ts';
import { toSiteSpec } from '../settings/site-spec.ts';
import { findOriginWarnings, type OriginWarning } from '../wire/origin-warnings.ts';
import type { Call } from './handler.ts';

/** `edges`: those that serve the domain; absent: they are looked up. */
export async function originWarningsOf(
  { db, now, permitsOrigin }: Call,
  domain: Domain,
  edges?: readonly EdgeReport[],
): Promise<readonly OriginWarning[]> {
  const spec = toSiteSpec({ ...domain, state: 'open' }); // one that waits for its review has origins too
  if (spec === undefined) return [];
  // Only the origins: compiling policies and lists costs far more than the rest of a reading.
  const { id, name, type, state, origins } = spec;
  const compiled = compileSite({ id, name, type, state, origins }, 1);
  if (compiled.kind === 'invalid') return [];
  const serving = edges ?? (await listServingEdges(db.query, domain.id, now));
  return findOriginWarnings(compiled.site, serving, permitsOrigin);
}
