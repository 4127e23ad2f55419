/** Which groups serve which domains, published for name servers. docs/decisions/0719 */
import type { Transaction } from 'kysely';
import { DEFAULT_SERVING, SERVING_KIND, type ServingGroups } from '#model/serving-groups.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { listGroups } from './edge-groups.ts';
import { type Change, publish, readResourceBody } from './resources.ts';

/** `groups`: none for a domain that the default groups serve. */
export function servingChange(domainId: number, groups: readonly string[]): Change {
  const place = { kind: SERVING_KIND, key: String(domainId) };
  const body: ServingGroups = { groups: groups.toSorted() };
  return groups.length === 0 ? { ...place, op: 'delete' } : { ...place, op: 'put', body };
}

/** Returns the changes that withdraw what is published of a domain that is deleted. */
export async function endServing(x: Executor, domainId: number): Promise<readonly Change[]> {
  const place = { kind: SERVING_KIND, key: String(domainId) };
  return (await readResourceBody(x, place)) === undefined ? [] : [{ ...place, op: 'delete' }];
}

/** Returns the change that publishes which groups are default ones. */
export async function defaultServingChange(x: Executor): Promise<Change> {
  const groups = (await listGroups(x)).filter(({ isDefault }) => isDefault).map(({ name }) => name);
  const body: ServingGroups = { groups };
  return { kind: SERVING_KIND, key: DEFAULT_SERVING, op: 'put', body };
}

/** Publishes the groups of a database that no release with name servers has published yet. */
export async function publishServing(trx: Transaction<Schema>, now: number): Promise<void> {
  const published = await readResourceBody(trx, { kind: SERVING_KIND, key: DEFAULT_SERVING });
  if (published !== undefined) return;
  const rows = await trx.selectFrom('domain_group').selectAll().where('left_at', 'is', null).execute();
  const ofDomains = [...Map.groupBy(rows, ({ domain_id }) => domain_id)].map(([id, own]) =>
    servingChange(
      id,
      own.map(({ group_name }) => group_name),
    ),
  );
  await publish(trx, [await defaultServingChange(trx), ...ofDomains], now);
}
