/** The secrets of customers that an edge has had, by domain: what is lost with the machine. docs/decisions/0595 */
import { sql } from 'kysely';
import type { EdgeExposure, ExposedDomain } from '#model/edge-exposure.ts';
import { groupsBelow } from '#model/edge-group.ts';
import type { Executor } from '../../schema/schema.ts';
import { inIds } from '../../statements/lists.ts';
import { listGroups } from '../edge-groups.ts';
import { findEnrolledEdge } from './enrolled-edges.ts';

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Reads one page of the domains that the edge has had, by id, and how many there are on all pages. A certificate or key
 * that is newer than the edge's revocation has never been sent to it, and is left out. `undefined` if there is no such
 * edge.
 */
export async function readExposure(x: Executor, edge: string, page: Page): Promise<EdgeExposure | undefined> {
  const enrolled = await findEnrolledEdge(x, edge);
  if (enrolled === undefined) return undefined;
  const { kind, group, revokedAt } = enrolled;
  const until = revokedAt ?? Number.MAX_SAFE_INTEGER;
  const domains = x
    .selectFrom('domain')
    .where('deleted_at', 'is', null)
    .where('created_at', '<=', until)
    .where(await hasHad(x, kind === 'local' ? undefined : group));
  const { total } = await domains.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await domains
    .select(['id', 'name', 'account_id'])
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const secrets = await readSecrets(
    x,
    rows.map(({ id }) => id),
    until,
  );
  const list = rows.map(
    ({ id, name, account_id }): ExposedDomain => ({
      domainId: id,
      name,
      accountId: account_id,
      certificates: secrets.certificates.get(id) ?? [],
      hasLiveKeys: secrets.liveKeys.has(id),
    }),
  );
  return { group, revokedAt, total: Number(total), domains: list };
}

/** A condition on domains: the group or one below it serves the domain, or has served it. Without a group every domain fulfils it. */
async function hasHad(x: Executor, group: string | undefined) {
  if (group === undefined) return sql<boolean>`1 = 1`;
  const groups = await listGroups(x);
  const below = groupsBelow(groups, group);
  const isNamed = sql`select 1 from domain_group as own where own.domain_id = domain.id and own.group_name in (${sql.join(below)})`;
  const servesDefault = groups.some(({ name, isDefault }) => isDefault && below.includes(name));
  if (!servesDefault) return sql<boolean>`exists (${isNamed})`;
  const hasOwn = sql`select 1 from domain_group as other where other.domain_id = domain.id and other.left_at is null`;
  return sql<boolean>`(exists (${isNamed}) or not exists (${hasOwn}))`;
}

async function readSecrets(x: Executor, domainIds: readonly number[], until: number) {
  if (domainIds.length === 0) return { certificates: new Map<number, string[]>(), liveKeys: new Set<number>() };
  const isListed = sql<boolean>`domain_id ${inIds(x, domainIds)}`;
  const uses = await x
    .selectFrom('certificate_use')
    .innerJoin('certificate', 'certificate.key', 'certificate_key')
    .select(['domain_id', 'certificate_key'])
    .where(isListed)
    .where('certificate.created_at', '<=', until)
    .orderBy('certificate_key')
    .execute();
  const keys = await x
    .selectFrom('live_keys')
    .select('domain_id')
    .where(isListed)
    .where('changed_at', '<=', until)
    .execute();
  const byDomain = Map.groupBy(uses, ({ domain_id }) => domain_id);
  return {
    certificates: new Map([...byDomain].map(([id, own]) => [id, own.map((use) => use.certificate_key)])),
    liveKeys: new Set(keys.map(({ domain_id }) => domain_id)),
  };
}
