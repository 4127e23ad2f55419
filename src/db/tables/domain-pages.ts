/** Pages of domains in several orders, each of which goes on from the last domain of the page before. */
import type { Domain } from '#model/domain.ts';
import type { Executor } from '../schema/schema.ts';
import { type DomainSelection, type OwnDomains, whatFilterAsks } from './domain-filter.ts';
import { toDomain } from './domains.ts';

export interface DomainPage {
  /** Number of domains on all pages. */
  readonly total: number;
  readonly domains: readonly Domain[];
}

/** A page with the newest first. `before`: id of the last domain of the page before. */
export async function listNewestDomains(
  x: Executor,
  filter: DomainSelection,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<DomainPage> {
  const matching = x.selectFrom('domain').where((e) => whatFilterAsks(e, filter));
  const from = before === undefined ? matching : matching.where('id', '<', before);
  const rows = await from.selectAll().orderBy('id', 'desc').limit(limit).execute();
  return { total: await countDomainsOf(x, filter), domains: rows.map(toDomain) };
}

/** A page in the order of names. `after`: name of the last domain of the page before. */
export async function listDomainsByName(
  x: Executor,
  filter: DomainSelection,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<DomainPage> {
  const matching = x.selectFrom('domain').where((e) => whatFilterAsks(e, filter));
  const from = after === undefined ? matching : matching.where('name', '>', after);
  const rows = await from.selectAll().orderBy('name').limit(limit).execute();
  return { total: await countDomainsOf(x, filter), domains: rows.map(toDomain) };
}

/** Ids of all domains that match: at most as many as an account may have. */
export async function listMatchingIds(x: Executor, filter: DomainSelection): Promise<readonly number[]> {
  const rows = await x
    .selectFrom('domain')
    .select('id')
    .where((e) => whatFilterAsks(e, filter))
    .execute();
  return rows.map(({ id }) => id);
}

/** Live domains with these ids, in their order. */
export async function listDomainsById(x: Executor, ids: readonly number[]): Promise<readonly Domain[]> {
  if (ids.length === 0) return [];
  const rows = await x
    .selectFrom('domain')
    .selectAll()
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute();
  const domains = new Map(rows.map((row) => [row.id, toDomain(row)]));
  return ids.flatMap((id) => domains.get(id) ?? []);
}

/** Live domains within reach that use the certificate, by id, from behind `after` on. */
export async function listDomainsWith(
  x: Executor,
  {
    accountId,
    domainIds,
    sslKey,
    after = 0,
    limit,
  }: OwnDomains & {
    readonly sslKey: string;
    readonly after: number | undefined;
    readonly limit: number;
  },
): Promise<readonly Domain[]> {
  const users = x.selectFrom('certificate_use').select('domain_id').where('certificate_key', '=', sslKey);
  const rows = await x
    .selectFrom('domain')
    .selectAll()
    .where('id', 'in', users)
    .where('id', '>', after)
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .$if(domainIds !== undefined, (query) => query.where('id', 'in', domainIds ?? []))
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toDomain);
}

async function countDomainsOf(x: Executor, filter: DomainSelection): Promise<number> {
  const matching = x.selectFrom('domain').where((e) => whatFilterAsks(e, filter));
  const { total } = await matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return Number(total);
}
