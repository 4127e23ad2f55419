/** Sites that have an origin on a host. */
import { sql } from 'kysely';
import type { Executor } from '../schema/schema.ts';

/** Limit of sites: of those that share one origin, the rest is left out. */
const MAX_SITES = 2_000;

/** Returns the specifications of sites that name the host, as JSON; a few may name it elsewhere. */
export async function findSitesByOrigin(
  x: Executor,
  host: string,
): Promise<readonly { readonly accountId: number; readonly body: string }[]> {
  // Part of the JSON as it is stored; a `_` in it fits any character.
  const part = `%"host":${JSON.stringify(host)}%`;
  return await x
    .selectFrom('resource')
    .innerJoin('domain', 'domain.name', 'resource.key')
    .select(['account_id as accountId', 'body'])
    .where('kind', '=', 'site')
    .where('deleted', '=', 0)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`body like ${part}`)
    .orderBy('domain.id')
    .limit(MAX_SITES)
    .execute();
}
