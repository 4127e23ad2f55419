/** Sites that have an origin on a host. */
import { sql } from 'kysely';
import type { Executor } from '../schema/schema.ts';

/** Limit of sites: of those that share one origin, the rest is left out, of accounts with many first. */
const MAX_SITES = 2_000;

/** Returns the specifications of sites that name the host, as JSON; a few may name it elsewhere. */
export async function findSitesByOrigin(
  x: Executor,
  host: string,
): Promise<readonly { readonly accountId: number; readonly body: string }[]> {
  // Part of the JSON as it is stored; a `_` in it fits any character.
  const part = `%"host":${JSON.stringify(host)}%`;
  const sites = x
    .selectFrom('resource')
    .innerJoin('domain', 'domain.name', 'resource.key')
    .select((e) => [
      'account_id as accountId',
      'body',
      'domain.id',
      e.fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy('account_id').orderBy('domain.id'))
        .as('turn'),
    ])
    .where('kind', '=', 'site')
    .where('deleted', '=', 0)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`body like ${part}`);
  return await x
    .selectFrom(sites.as('site'))
    .select(['accountId', 'body'])
    .orderBy('turn')
    .orderBy('id')
    .limit(MAX_SITES)
    .execute();
}
