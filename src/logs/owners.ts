/**
 * Which domain traffic belongs to: to none if the database, which was restored, does not have its domain, or has given
 * the id to another one, or if the edge's group does not serve it. docs/decisions/0232, 0574
 */
import type { Db } from '#db/open.ts';
import { listDomainStarts } from '#db/tables/domains.ts';
import { findReportable } from '#db/tables/edge-groups.ts';
import { MINUTE_MS } from '#lib/durations.ts';

/** How far the clock of an edge may be behind that of the machine which recorded a domain's creation. */
export const SKEW_MS = MINUTE_MS;
/** Domain id of traffic that belongs to no domain. */
export const NO_DOMAIN = 0;

/** Returns when each of these domains began; without those that edges of the group may not report of. */
export async function listStarts(
  db: Db,
  domainIds: readonly number[],
  group: string | undefined,
): Promise<ReadonlyMap<number, number>> {
  const reportable = await findReportable(db.query, group, domainIds);
  return await listDomainStarts(db.query, [...reportable]);
}
