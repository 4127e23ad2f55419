/**
 * The one way to order edges about cached objects. In one transaction the day's limits are taken, the task is kept and
 * what it asks for is published. No setting changes: a domain's status stays. docs/decisions/0075
 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { type CacheAmounts, insertTask, saveTaskRevision, takeDayPlaces } from '#db/tables/cache-tasks.ts';
import type { OwnDomains } from '#db/tables/domain-filter.ts';
import { findDomain, findDomainsByName, reaches } from '#db/tables/domains.ts';
import { deletePurges, insertPurges, listPurges, lockPurges } from '#db/tables/purges.ts';
import { type Change, publish } from '#db/tables/resources.ts';
import { type AuditChange, differenceOf } from '#model/audit.ts';
import { type CacheItem, type CacheTask, resourceId } from '#model/cache-task.ts';
import { candidateNames } from '#sites/lookup.ts';
import { mergePurges } from '#sites/merge-purges.ts';
import { type PrefetchSpec, prefetchKey } from '#sites/prefetch.ts';
import { type PurgeScope, type PurgeSpec, purgeKey } from '#sites/purge.ts';
import type { AskedPurge, AskedUrl } from '../wire/wire-cache.ts';

/** The caller that orders, and how much its account may order in a day. */
export interface Orderer extends OwnDomains {
  readonly now: number;
  /** `YYYY-MM-DD` in the service's time zone. */
  readonly today: string;
  readonly limits: CacheAmounts;
}

interface SiteName {
  readonly id: number;
  readonly name: string;
}

const NOTHING: CacheAmounts = { purgeUrls: 0, purgeDirectories: 0, prefetchUrls: 0 };

/** Returns the task's id. */
export async function orderPurge(db: Db, orderer: Orderer, asked: AskedPurge): Promise<number> {
  return await db.transaction(async (trx) => {
    const wanted = await findPurges(trx, orderer, asked);
    const { accountId, now } = orderer;
    const directories = wanted.items.filter(({ kind }) => kind !== 'url').length;
    const purgeUrls = wanted.items.length - directories;
    await takePlaces(trx, orderer, { ...NOTHING, purgeUrls, purgeDirectories: directories });
    const task = { accountId, kind: 'purge', createdAt: now, items: wanted.items } as const;
    const id = await insertTask(trx, task);
    noteChanges(trx, [orderedTask(task, id)]);
    const changes = await applyPurges(trx, id, wanted.bySite, now);
    await saveTaskRevision(trx, id, await publish(trx, changes, now));
    return id;
  });
}

/** Returns the task's id. */
export async function orderPrefetch(db: Db, orderer: Orderer, asked: readonly AskedUrl[]): Promise<number> {
  return await db.transaction(async (trx) => {
    const siteOf = await findSites(trx, orderer, asked);
    const urls = [...new Map(asked.map((url) => [`${url.scheme}://${url.host}${url.target}`, url])).values()];
    const { accountId, now } = orderer;
    await takePlaces(trx, orderer, { ...NOTHING, prefetchUrls: urls.length });
    const task: Omit<CacheTask, 'id' | 'revision'> = {
      accountId,
      kind: 'prefetch',
      createdAt: now,
      items: urls.map((url) => ({ kind: 'url', asked: url.asked, domainId: siteOf(url).id })),
    };
    const taskId = await insertTask(trx, task);
    noteChanges(trx, [orderedTask(task, taskId)]);
    const changes = urls.map((url, n): Change => {
      const { host, target, scheme } = url;
      const body: PrefetchSpec = { taskId, n, host, target, scheme, accountId, siteId: siteOf(url).id };
      return { kind: 'prefetch', key: prefetchKey(body), op: 'put', body };
    });
    await saveTaskRevision(trx, taskId, await publish(trx, changes, now));
    return taskId;
  });
}

function orderedTask({ accountId, kind, items }: Omit<CacheTask, 'id' | 'revision'>, id: number): AuditChange {
  const target = { kind: 'task', id: String(id), name: '' } as const;
  return { accountId, target, ...differenceOf({}, { [kind]: items.map(({ asked }) => asked) }) };
}

interface WantedPurges {
  readonly items: readonly CacheItem[];
  readonly bySite: ReadonlyMap<SiteName, readonly PurgeScope[]>;
}

async function findPurges(trx: Executor, own: OwnDomains, asked: AskedPurge): Promise<WantedPurges> {
  if (asked.kind === 'domain') {
    const { domainId } = asked;
    const domain = await findDomain(trx, { ...own, id: domainId });
    if (domain === undefined) throw new ServiceError('domainNotFound', { domainId });
    const items = [{ kind: 'domain', asked: domain.name, domainId }] as const;
    return { items, bySite: new Map([[domain, [{ kind: 'site', target: '' }]]]) };
  }
  const siteOf = await findSites(trx, own, asked.urls);
  // Different spellings of one object count once.
  const distinct = new Map(asked.urls.map((url) => [`${url.kind} ${url.host}${url.keyTarget}`, url]));
  const bySite = Map.groupBy(distinct.values(), siteOf);
  return {
    items: [...distinct.values()].map((url) => ({ kind: url.kind, asked: url.asked, domainId: siteOf(url).id })),
    bySite: new Map([...bySite].map(([site, urls]) => [site, urls.map(toScope)])),
  };
}

function toScope({ kind, host, keyTarget }: AskedUrl): PurgeScope {
  return { kind, target: host + keyTarget };
}

/** Returns a function for the site of each URL, found as an edge does; throws for the first URL of no domain of the caller. */
async function findSites(
  trx: Executor,
  own: OwnDomains,
  urls: readonly AskedUrl[],
): Promise<(url: AskedUrl) => SiteName> {
  const namesOf = new Map(urls.map(({ host }) => [host, candidateNames(host)]));
  const names = [...new Set([...namesOf.values()].flat())];
  // All of the account: what a domain out of reach serves is not that of a wildcard domain within.
  const domains = await findDomainsByName(trx, { accountId: own.accountId, domainIds: undefined, names });
  const byName = new Map(domains.map((domain) => [domain.name, domain]));
  const find = ({ host, field }: AskedUrl): SiteName => {
    const name = namesOf.get(host)?.find((candidate) => byName.has(candidate)) ?? '';
    const domain = byName.get(name);
    if (domain === undefined || !reaches(own, domain)) throw new ServiceError('hostNotFound', { field, host });
    return domain;
  };
  for (const url of urls) find(url);
  return find;
}

/** Returns the changes to publish. */
async function applyPurges(
  trx: Transaction<Schema>,
  taskId: number,
  bySite: WantedPurges['bySite'],
  now: number,
): Promise<readonly Change[]> {
  await lockPurges(
    trx,
    [...bySite.keys()].map(({ id }) => id),
  );
  const changes: Change[] = [];
  let n = 0;
  for (const [{ id: siteId, name: site }, asked] of bySite) {
    const { added, removedKeys } = mergePurges(await listPurges(trx, siteId), asked);
    const rows = added.map((scope) => ({ ...scope, siteId, key: purgeKey(siteId, resourceId(taskId, n++)) }));
    await deletePurges(trx, removedKeys);
    await insertPurges(trx, rows, now);
    for (const key of removedKeys) changes.push({ kind: 'purge', key, op: 'delete' });
    for (const { key, kind, target } of rows) {
      const body: PurgeSpec = { siteId, site, kind, target };
      changes.push({ kind: 'purge', key, op: 'put', body });
    }
  }
  return changes;
}

async function takePlaces(
  trx: Transaction<Schema>,
  { accountId, today: day, limits }: Orderer,
  amounts: CacheAmounts,
): Promise<void> {
  const used = await takeDayPlaces(trx, { accountId, day }, amounts, limits);
  if (used === undefined) return;
  const refusals = [
    ['purgeUrls', 'purgeUrlLimit'],
    ['purgeDirectories', 'purgeDirectoryLimit'],
    ['prefetchUrls', 'prefetchLimit'],
  ] as const;
  for (const [amount, code] of refusals) {
    const limit = limits[amount];
    const remaining = Math.max(0, limit - used[amount]);
    if (amounts[amount] > remaining) throw new ServiceError(code, { limit, remaining });
  }
}
