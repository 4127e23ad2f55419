/** The resources of a domain: which domains a resource belongs to, and the resources that belong to one. */
import type { Transaction } from 'kysely';
import { CHALLENGE_KIND } from '#model/challenge.ts';
import { LIVE_KEYS_KIND, LIVE_MARK_KIND } from '#model/live-stream.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { listUsedLists } from './address-lists.ts';
import { CERTIFICATE_KIND } from './certificates.ts';
import type { Change } from './resources.ts';

/** Values in one query. */
const MAX_VALUES = 500;

/** Finds the domains with these names, including deleted ones. */
export async function findDomainIds(
  x: Executor,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await inParts(names, (part) =>
    x.selectFrom('domain').select(['id', 'name']).where('name', 'in', part).execute(),
  );
  return grouped(rows.map(({ name, id }) => [name, id]));
}

/** Finds the domains that use these certificates. */
export async function findCertificateDomains(
  x: Executor,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await inParts(keys, (part) =>
    x
      .selectFrom('certificate_use')
      .select(['domain_id', 'certificate_key'])
      .where('certificate_key', 'in', part)
      .execute(),
  );
  return grouped(rows.map((row) => [row.certificate_key, row.domain_id]));
}

/** Returns the changes that publish everything of a domain again, as it is now. */
export async function listDomainChanges(
  trx: Transaction<Schema>,
  { id, name }: { readonly id: number; readonly name: string },
): Promise<readonly Change[]> {
  const within = (kind: string, start: string) => {
    // Keys from `start` up to, but not including, `start` with its last character raised by one.
    const end = start.slice(0, -1) + String.fromCharCode(start.charCodeAt(start.length - 1) + 1);
    const all = trx.selectFrom('resource').select(['kind', 'key', 'body']).where('deleted', '=', 0);
    return all.where('kind', '=', kind).where('key', '>=', start).where('key', '<', end).execute();
  };
  const one = trx.selectFrom('resource').select(['kind', 'key', 'body']).where('deleted', '=', 0);
  const certificates = trx.selectFrom('certificate_use').select('certificate_key').where('domain_id', '=', id);
  const rows = [
    ...(await one.where('kind', '=', 'site').where('key', '=', name).execute()),
    ...(await one.where('kind', '=', CERTIFICATE_KIND).where('key', 'in', certificates).execute()),
    ...(await within('purge', `${id}:`)),
    ...(await one
      .where('kind', '=', 'prefetch')
      .where((e) => e.or([e('body', 'like', `%"siteId":${id},%`), e('body', 'like', `%"siteId":${id}}`)]))
      .execute()),
    ...(await within(CHALLENGE_KIND, `${name}/`)),
    ...(await within(LIVE_MARK_KIND, `${id}/`)),
    ...(await one.where('kind', '=', LIVE_KEYS_KIND).where('key', '=', String(id)).execute()),
  ];
  const changes = rows.map(({ kind, key, body }): Change => ({ kind, key, op: 'put', body: JSON.parse(body) }));
  return [...changes, ...(await listUsedLists(trx, id))];
}

async function inParts<T>(
  values: readonly string[],
  read: (part: readonly string[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const distinct = [...new Set(values)];
  const found: T[] = [];
  for (let from = 0; from < distinct.length; from += MAX_VALUES)
    found.push(...(await read(distinct.slice(from, from + MAX_VALUES))));
  return found;
}

function grouped(pairs: readonly (readonly [string, number])[]): ReadonlyMap<string, readonly number[]> {
  const all = Map.groupBy(pairs, ([key]) => key);
  return new Map([...all].map(([key, own]) => [key, own.map(([, id]) => id)]));
}
