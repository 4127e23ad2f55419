/**
 * The one way to write settings. In one transaction a domain is saved, made into its `SiteSpec`, compiled and
 * published. What does not compile is refused, so an edge can run whatever was accepted.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { giveDomainPlace, takeDomainPlace } from '#db/tables/accounts.ts';
import { setAddressListUse } from '#db/tables/address-lists.ts';
import { listAuditEventsOf, noteChanges, unchanged } from '#db/tables/audit.ts';
import { endOrder } from '#db/tables/certificate-orders.ts';
import { setCertificateUse } from '#db/tables/certificates.ts';
import type { OwnDomains } from '#db/tables/domain-filter.ts';
import { keepRevision } from '#db/tables/domain-revisions.ts';
import {
  findDomainToChange,
  findNameConflict,
  insertDomain,
  lockName,
  markDomainDeleted,
  type NewDomain,
  saveDomain,
} from '#db/tables/domains.ts';
import { forgetStreams } from '#db/tables/live/streams.ts';
import { type Change, publish } from '#db/tables/resources.ts';
import { endServing } from '#db/tables/serving-resources.ts';
import type { AuditEvent } from '#model/audit.ts';
import type { Domain } from '#model/domain.ts';
import { canChangeSettings, type Review, stateWhenChanged } from '#model/transition.ts';
import { compileSite } from '#sites/compile.ts';
import { addedDomain, changedDomain, deletedDomain, movedDomain } from './domain-event.ts';
import { renewKeys } from './live-changes.ts';
import { toSiteSpec } from './site-spec.ts';

/** Which domain is meant. */
export interface DomainKey extends OwnDomains {
  readonly domainId: number;
  /** What the caller has read; absent: whatever is there. */
  readonly ifRevision?: number | undefined;
}

/** The settings are not those that the caller has read: `domain` is what is there. docs/decisions/0446 */
export class StaleRevision extends Error {
  readonly domain: Domain;
  readonly given: number;
  /** The change that made the settings that are there; `undefined` if it is not kept. */
  readonly event: AuditEvent | undefined;

  constructor(domain: Domain, given: number, event: AuditEvent | undefined) {
    super('the settings have changed');
    this.domain = domain;
    this.given = given;
    this.event = event;
  }
}

/** `complete` returns its settings, once it has an id. */
export async function addDomain(
  db: Db,
  domain: NewDomain,
  maxDomains: number,
  now: number,
  complete: (domain: Domain, trx: Transaction<Schema>) => Promise<Domain['settings']> = async (bare) => bare.settings,
): Promise<Domain> {
  return await db.transaction(async (trx) => {
    await lockName(trx, domain.name);
    await refuseConflict(trx, domain);
    await takePlace(trx, domain.accountId, maxDomains);
    const bare = await insertDomain(trx, domain);
    const added = await saveAndPublish(trx, { ...bare, settings: await complete(bare, trx) }, now);
    await keepRevision(trx, added, now);
    noteChanges(trx, [addedDomain(added)]);
    return added;
  });
}

/**
 * Returns the domain as it is then. `change` may be called several times, and may throw `ServiceError`; giving back its
 * argument changes nothing. `others` returns what else is to be published with the domain.
 */
export async function changeDomain(
  db: Db,
  key: DomainKey,
  now: number,
  change: (domain: Domain, trx: Transaction<Schema>) => Domain | Promise<Domain>,
  others: Others = async () => [],
): Promise<Domain> {
  return await db.transaction(async (trx) => {
    const domain = await findOrRefuse(trx, key);
    const changed = await change(domain, trx);
    const more = await others(trx, domain);
    if (changed === domain && more.length === 0) return unchanged(trx, domain);
    const isChosen = changed.settings.sslKey !== domain.settings.sslKey;
    const orders = isChosen ? await endOrder(trx, domain.id) : [];
    const saved = await saveAndPublish(trx, changed, now, [...orders, ...more]);
    await keepRevision(trx, saved, now);
    noteChanges(trx, [changedDomain(domain, saved, saved.settingRevision)]);
    return saved;
  });
}

export type Others = (trx: Transaction<Schema>, domain: Domain) => Promise<readonly Change[]>;

/** What every call brings along. */
export interface Setter extends OwnDomains {
  readonly db: Db;
  readonly now: number;
  readonly review: Review;
  readonly ifRevision?: number | undefined;
}

/**
 * Like `changeDomain`, for settings that customers change: refused while the domain is disabled, and a rejected domain
 * is resubmitted. Equal settings are no change.
 */
export async function changeSettings(
  { db, accountId, domainIds, now, review, ifRevision }: Setter,
  domainId: number,
  change: (domain: Domain, trx: Transaction<Schema>) => Domain['settings'] | Promise<Domain['settings']>,
  others?: Others,
): Promise<Domain> {
  const changeOpen = async (domain: Domain, trx: Transaction<Schema>) => {
    refuseDisabled(domain);
    const changed = { ...domain, state: stateWhenChanged(domain.state, review), settings: await change(domain, trx) };
    return isDeepStrictEqual(changed, domain) ? domain : changed;
  };
  return await changeDomain(db, { accountId, domainIds, domainId, ifRevision }, now, changeOpen, others);
}

/** A disabled domain stays: deleted and added anew it would be in service again. */
export async function deleteDomain(db: Db, key: DomainKey, now: number): Promise<void> {
  await db.transaction(async (trx) => {
    const domain = await findOrRefuse(trx, key);
    refuseDisabled(domain);
    await markDomainDeleted(trx, domain.id, now);
    await giveDomainPlace(trx, domain.accountId);
    const lists = await useLists(trx, domain, []);
    const certificates = await setCertificateUse(trx, domain.id, []);
    const challenges = await endOrder(trx, domain.id);
    const live = await forgetStreams(trx, domain.id);
    const serving = await endServing(trx, domain.id);
    const site: Change = { kind: 'site', key: domain.name, op: 'delete' };
    await publish(trx, [site, ...lists, ...certificates, ...challenges, ...live, ...serving], now);
    noteChanges(trx, [deletedDomain(domain)]);
  });
}

/** The remark is no setting: no edge hears of it and the state stays. */
export async function changeRemark(db: Db, key: DomainKey, remark: string): Promise<void> {
  await db.transaction(async (trx) => {
    const domain = await findOrRefuse(trx, key);
    await saveDomain(trx, { ...domain, remark });
    noteChanges(trx, domain.remark === remark ? [] : [changedDomain(domain, { ...domain, remark })]);
  });
}

/** The domain keeps its id and its settings; edges do not know accounts. Keys of live streams are made anew. */
export async function transferDomain(
  db: Db,
  key: DomainKey,
  { toAccountId, maxDomains, ring, now }: Transfer,
): Promise<void> {
  await db.transaction(async (trx) => {
    const domain = await findOrRefuse(trx, key);
    if (domain.accountId === toAccountId) return unchanged(trx, undefined);
    if (domain.settings.sslControl) throw new ServiceError('domainHasCertificate', { domainId: domain.id });
    if (listsOf(domain).length > 0) throw new ServiceError('domainHasAddressLists', { domainId: domain.id });
    if (domain.settings.signing.isOn) throw new ServiceError('domainSignsUrls', { domainId: domain.id });
    const moved = { ...domain, accountId: toAccountId };
    await lockName(trx, domain.name);
    await refuseConflict(trx, moved);
    await giveDomainPlace(trx, domain.accountId);
    await takePlace(trx, toAccountId, maxDomains);
    await saveDomain(trx, moved);
    const keys = await renewKeys(trx, ring, domain.id, now);
    if (keys.length > 0) await publish(trx, keys, now);
    noteChanges(trx, [movedDomain(domain, 'before'), movedDomain(moved, 'after')]);
  });
}

interface Transfer {
  readonly toAccountId: number;
  readonly maxDomains: number;
  readonly ring: Keyring;
  readonly now: number;
}

/** Locks the domain until the transaction ends. */
export async function findOrRefuse(trx: Transaction<Schema>, key: DomainKey): Promise<Domain> {
  const { domainId, ifRevision } = key;
  const domain = await findDomainToChange(trx, { own: key, id: domainId });
  if (domain === undefined) throw new ServiceError('domainNotFound', { domainId });
  const { settingRevision } = domain;
  if (ifRevision === undefined || ifRevision === settingRevision) return domain;
  const event = (await listAuditEventsOf(trx, domainId, [settingRevision])).get(settingRevision);
  throw new StaleRevision(domain, ifRevision, event);
}

function refuseDisabled(domain: Domain): void {
  if (!canChangeSettings(domain.state)) throw new ServiceError('domainDisabled', { domainId: domain.id });
}

/** Never says whose the other domain is. */
async function refuseConflict(
  trx: Transaction<Schema>,
  { name, accountId, id }: NewDomain & { readonly id?: number },
): Promise<void> {
  const conflict = await findNameConflict(trx, { name, accountId, exceptId: id });
  if (conflict === undefined) return;
  throw new ServiceError(conflict.accountId === accountId ? 'domainDuplicate' : 'domainNameTaken', { name });
}

async function takePlace(trx: Transaction<Schema>, accountId: number, maxDomains: number): Promise<void> {
  const isTaken = await takeDomainPlace(trx, accountId, maxDomains);
  if (!isTaken) throw new ServiceError('domainLimit', { limit: maxDomains });
}

/** The caller has locked the domain. `others`: further changes to publish. */
export async function saveAndPublish(
  trx: Transaction<Schema>,
  domain: Domain,
  now: number,
  others: readonly Change[] = [],
): Promise<Domain> {
  const body = toSiteSpec(domain);
  if (body !== undefined) {
    // The revision is not known yet; no matcher depends on it.
    const compiled = compileSite(body, 1);
    if (compiled.kind === 'invalid') throw new ServiceError('settingsInvalid', { problem: compiled.problem });
  }
  const site = { kind: 'site', key: domain.name } as const;
  const change = body === undefined ? ({ ...site, op: 'delete' } as const) : ({ ...site, op: 'put', body } as const);
  const lists = await useLists(trx, domain, listsOf(domain));
  const { sslControl, sslKey, secondSslKey } = domain.settings;
  const keys = sslControl ? [sslKey, secondSslKey].filter((key) => key !== '') : [];
  const certificates = await setCertificateUse(trx, domain.id, keys);
  const settingRevision = await publish(trx, [change, ...lists, ...certificates, ...others], now);
  const saved = { ...domain, settingRevision };
  await saveDomain(trx, saved);
  return saved;
}

function listsOf({ settings }: Domain): readonly string[] {
  const { denied, allowed } = settings.addressLists;
  return [...new Set([...denied, ...allowed])];
}

async function useLists(
  trx: Transaction<Schema>,
  domain: Domain,
  names: readonly string[],
): Promise<readonly Change[]> {
  const used = await setAddressListUse(trx, domain, names);
  if ('missing' in used) throw new ServiceError('addressListNotFound', { list: used.missing });
  return used.changes;
}
