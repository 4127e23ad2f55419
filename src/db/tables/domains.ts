/**
 * Domains. A deleted domain keeps its row, which no query of live domains returns: its id belongs to its logs, its name
 * is free.
 */
import { sql, type Transaction } from 'kysely';
import { toModelNames } from '#lib/model-names.ts';
import {
  type AccelerationType,
  DEFAULT_SETTINGS,
  type Domain,
  type DomainSettings,
  type DomainState,
  eachDenyList,
} from '#model/domain.ts';
import { conflictScope, coveringWildcards } from '#model/domain-name.ts';
import { lockInTransaction } from '../engines/engine.ts';
import type { DomainRow, Executor, Schema } from '../schema/schema.ts';
import { inIds } from '../statements/lists.ts';
import { type DomainFilter, escapeLike, matches, type OwnDomains, whatFilterAsks } from './domain-filter.ts';

export type NewDomain = Omit<Domain, 'id' | 'settingRevision'>;

export interface NameClaim {
  readonly name: string;
  /** The account that claims the name. */
  readonly accountId: number;
  readonly exceptId?: number | undefined;
}

/** Locks the name and all that may conflict with it until the transaction ends. Must precede `findNameConflict`. */
export async function lockName(trx: Transaction<Schema>, name: string): Promise<void> {
  await lockInTransaction(trx, `name:${conflictScope(name)}`);
}

/**
 * Returns the domain that prevents `accountId` from using `name`: one with the same name, another account's wildcard
 * that covers it, or for a wildcard, another account's name under it. An account may have names under its own wildcard.
 * `exceptId`: a domain to ignore.
 */
export async function findNameConflict(trx: Executor, claim: NameClaim): Promise<Domain | undefined> {
  const { name, accountId, exceptId = 0 } = claim;
  const wildcards = coveringWildcards(name);
  const row = await trx
    .selectFrom('domain')
    .selectAll()
    .where('deleted_at', 'is', null)
    .where('id', '!=', exceptId)
    .where((e) =>
      e.or([
        e('name', '=', name),
        ...(wildcards.length > 0 ? [e.and([e('name', 'in', wildcards), e('account_id', '!=', accountId)])] : []),
        ...(name.startsWith('*.')
          ? [e.and([matches(`%${escapeLike(name.slice(1))}`), e('account_id', '!=', accountId)])]
          : []),
      ]),
    )
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row && toDomain(row);
}

/** Inserts a domain. Its `settingRevision` is 0 until the change is published and saved with `saveDomain`. */
export async function insertDomain(trx: Executor, domain: NewDomain): Promise<Domain> {
  const row = await trx
    .insertInto('domain')
    .values({ ...toColumns({ ...domain, settingRevision: 0 }), created_at: domain.createdAt, deleted_at: null })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toDomain(row);
}

/** Returns `undefined` also for a domain that the caller may not reach. */
export async function findDomain(
  x: Executor,
  { id, ...own }: OwnDomains & { readonly id: number },
): Promise<Domain | undefined> {
  const domain = await findDomainById(x, id);
  return domain !== undefined && reaches(own, domain) ? domain : undefined;
}

/** Returns one of the ids that is not of a domain of the account; `undefined` if there is none. */
export async function findMissingDomain(
  x: Executor,
  { accountId, domainIds = [] }: OwnDomains,
): Promise<number | undefined> {
  const rows = await x
    .selectFrom('domain')
    .select('id')
    .where('id', 'in', domainIds)
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .execute();
  const found = new Set(rows.map(({ id }) => id));
  return domainIds.find((id) => !found.has(id));
}

export function reaches({ accountId, domainIds }: OwnDomains, domain: Pick<Domain, 'accountId' | 'id'>): boolean {
  return domain.accountId === accountId && (domainIds?.includes(domain.id) ?? true);
}

/** Finds domains with these names. */
export async function findDomainsByName(
  x: Executor,
  { names, ...own }: OwnDomains & { readonly names: readonly string[] },
): Promise<readonly Domain[]> {
  if (names.length === 0) return [];
  const rows = await x
    .selectFrom('domain')
    .selectAll()
    .where('name', 'in', names)
    .where('account_id', '=', own.accountId)
    .where('deleted_at', 'is', null)
    .execute();
  return rows.map(toDomain).filter((domain) => reaches(own, domain));
}

export async function findDomainById(x: Executor, id: number): Promise<Domain | undefined> {
  const row = await x
    .selectFrom('domain')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row && toDomain(row);
}

/** Like `findDomain`, but locks the domain until the transaction ends. `own` absent: a domain of any account. */
export async function findDomainToChange(
  trx: Transaction<Schema>,
  { own, id }: { readonly own?: OwnDomains; readonly id: number },
): Promise<Domain | undefined> {
  await lockInTransaction(trx, `domain:${id}`);
  return own === undefined ? findDomainById(trx, id) : findDomain(trx, { ...own, id });
}

/** Saves everything but id and creation time. A deleted domain is not changed. */
export async function saveDomain(trx: Executor, domain: Domain): Promise<void> {
  await trx
    .updateTable('domain')
    .set(toColumns(domain))
    .where('id', '=', domain.id)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Returns false if there was no such domain. */
export async function markDomainDeleted(trx: Executor, id: number, now: number): Promise<boolean> {
  const row = await trx
    .updateTable('domain')
    .set({ deleted_at: now })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns one page in order of creation, and the total of all pages. */
export async function listDomains(
  x: Executor,
  filter: DomainFilter,
): Promise<{ readonly total: number; readonly domains: readonly Domain[] }> {
  const matching = x.selectFrom('domain').where((e) => whatFilterAsks(e, filter));
  const { total } = await matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await matching.selectAll().orderBy('id').limit(filter.limit).offset(filter.offset).execute();
  return { total, domains: rows.map(toDomain) };
}

function toColumns(domain: Omit<Domain, 'id' | 'createdAt'>) {
  return {
    account_id: domain.accountId,
    name: domain.name,
    type: domain.type,
    icp_number: domain.icpNumber,
    remark: domain.remark,
    state: domain.state,
    reject_reason: domain.state === 'rejected' ? (domain.rejectReason ?? '') : '',
    limited: Number(domain.isLimited ?? false),
    setting_revision: domain.settingRevision,
    settings: JSON.stringify(domain.settings),
  };
}

export function toDomain(row: DomainRow): Domain {
  // `as`, here and below: these columns are written by this file only, from the same types.
  const { deleted_at: _at, limited, reject_reason, ...plain } = row;
  return {
    ...toModelNames(plain),
    ...(limited === 1 && { isLimited: true }),
    ...(reject_reason !== '' && { rejectReason: reject_reason }),
    type: row.type as AccelerationType,
    state: row.state as DomainState,
    settings: parseSettings(row.settings),
  };
}

/** `text`: settings as they are stored, by any release. */
export function parseSettings(text: string): DomainSettings {
  return withDefaults(JSON.parse(text) as StoredSettings);
}

type StoredSettings = Partial<DomainSettings> & {
  /** The name of `ignoresQuery` in earlier releases. docs/decisions/0512 */
  readonly keepUrlParams?: boolean;
};

/** Fills in defaults, in depth, for members that did not exist when the settings were stored. */
function withDefaults({ keepUrlParams, ...stored }: StoredSettings): DomainSettings {
  const { https, cache, caching, referer, recording } = DEFAULT_SETTINGS;
  return {
    ...DEFAULT_SETTINGS,
    ...(keepUrlParams !== undefined && { ignoresQuery: keepUrlParams }),
    ...stored,
    https: { ...https, ...stored.https },
    cache: { ...cache, ...stored.cache },
    caching: { ...caching, ...stored.caching },
    referer: { ...referer, ...stored.referer },
    ...eachDenyList((list) => ({ ...DEFAULT_SETTINGS[list], ...stored[list] })),
    recording: { ...recording, ...stored.recording },
  };
}

/**
 * Lists domains that have or had this name, newest first. Deleted domains are included, as they keep their logs. `name`
 * absent: all names.
 */
export async function listDomainIds(
  x: Executor,
  { accountId, domainIds, name }: OwnDomains & { readonly name?: string | undefined },
): Promise<readonly number[]> {
  let query = x.selectFrom('domain').select('id').where('account_id', '=', accountId);
  if (domainIds !== undefined) query = query.where('id', 'in', domainIds);
  if (name !== undefined) query = query.where('name', '=', name);
  const rows = await query.orderBy('id', 'desc').execute();
  return rows.map(({ id }) => id);
}

/** Returns the creation times of these domains, including deleted ones, by id. Unknown ids are absent. */
export async function listDomainStarts(x: Executor, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map();
  const rows = await x
    .selectFrom('domain')
    .select(['id', 'created_at'])
    .where(sql<boolean>`id ${inIds(x, ids)}`)
    .execute();
  return new Map(rows.map((row) => [row.id, row.created_at]));
}

/** Lists domains, at most `limit`, that are not limited as those of these accounts should be, and no others. */
export async function listWronglyLimited(
  x: Executor,
  accountIds: readonly number[],
  limit: number,
): Promise<readonly number[]> {
  const rows = await x
    .selectFrom('domain')
    .select('id')
    .where('deleted_at', 'is', null)
    .where((e) => {
      const isOfThese = accountIds.length === 0 ? sql<boolean>`1 = 0` : e('account_id', 'in', accountIds);
      return e.or([e.and([isOfThese, e('limited', '=', 0)]), e.and([e.not(isOfThese), e('limited', '=', 1)])]);
    })
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Works for deleted domains, too. */
export async function findAccountOfDomain(x: Executor, id: number): Promise<number | undefined> {
  const row = await x.selectFrom('domain').select('account_id').where('id', '=', id).executeTakeFirst();
  return row?.account_id;
}
