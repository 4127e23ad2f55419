/**
 * The one way to write settings. In one transaction a domain is saved, made into its `SiteSpec`, compiled and
 * published. What does not compile is refused, so an edge can run whatever was accepted.
 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/service-error.ts';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { giveDomainPlace, takeDomainPlace } from '#db/tables/accounts.ts';
import { setAddressListUse } from '#db/tables/address-lists.ts';
import { endOrder } from '#db/tables/certificate-orders.ts';
import { setCertificateUse } from '#db/tables/certificates.ts';
import {
  findDomainToChange,
  findNameConflict,
  insertDomain,
  lockName,
  markDomainDeleted,
  type NewDomain,
  type OwnDomains,
  saveDomain,
} from '#db/tables/domains.ts';
import { forgetStreams } from '#db/tables/live/streams.ts';
import { type Change, publish } from '#db/tables/resources.ts';
import type { Domain } from '#model/domain.ts';
import { canChangeSettings, type Review, stateWhenChanged } from '#model/transition.ts';
import { compileSite } from '#sites/compile.ts';
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

  constructor(domain: Domain, given: number) {
    super('the settings have changed');
    this.domain = domain;
    this.given = given;
  }
}

export async function addDomain(db: Db, domain: NewDomain, maxDomains: number, now: number): Promise<Domain> {
  return await db.transaction(async (trx) => {
    await lockName(trx, domain.name);
    await refuseConflict(trx, domain);
    await takePlace(trx, domain.accountId, maxDomains);
    return await saveAndPublish(trx, await insertDomain(trx, domain), now);
  });
}

/**
 * `change` may be called several times, and may throw `ServiceError`; giving back its argument changes nothing. `others`
 * returns what else is to be published with the domain.
 */
export async function changeDomain(
  db: Db,
  key: DomainKey,
  now: number,
  change: (domain: Domain, trx: Transaction<Schema>) => Domain | Promise<Domain>,
  others: Others = async () => [],
): Promise<void> {
  await db.transaction(async (trx) => {
    const domain = await findOrRefuse(trx, key);
    const changed = await change(domain, trx);
    if (changed === domain) return;
    const isChosen = changed.settings.sslKey !== domain.settings.sslKey;
    const orders = isChosen ? await endOrder(trx, domain.id) : [];
    await saveAndPublish(trx, changed, now, [...orders, ...(await others(trx))]);
  });
}

type Others = (trx: Transaction<Schema>) => Promise<readonly Change[]>;

/** What every call brings along. */
interface Setter extends OwnDomains {
  readonly db: Db;
  readonly now: number;
  readonly review: Review;
  readonly ifRevision?: number | undefined;
}

/**
 * Like `changeDomain`, for settings that customers change: refused while the domain is disabled, and a rejected domain
 * is resubmitted.
 */
export async function changeSettings(
  { db, accountId, domainIds, now, review, ifRevision }: Setter,
  domainId: number,
  change: (domain: Domain, trx: Transaction<Schema>) => Domain['settings'] | Promise<Domain['settings']>,
  others?: Others,
): Promise<void> {
  const changeOpen = async (domain: Domain, trx: Transaction<Schema>) => {
    refuseDisabled(domain);
    return { ...domain, state: stateWhenChanged(domain.state, review), settings: await change(domain, trx) };
  };
  await changeDomain(db, { accountId, domainIds, domainId, ifRevision }, now, changeOpen, others);
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
    const site: Change = { kind: 'site', key: domain.name, op: 'delete' };
    await publish(trx, [site, ...lists, ...certificates, ...challenges, ...live], now);
  });
}

/** The remark is no setting: no edge hears of it and the state stays. */
export async function changeRemark(db: Db, key: DomainKey, remark: string): Promise<void> {
  await db.transaction(async (trx) => {
    await saveDomain(trx, { ...(await findOrRefuse(trx, key)), remark });
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
    if (domain.accountId === toAccountId) return;
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
  if (ifRevision !== undefined && ifRevision !== domain.settingRevision) throw new StaleRevision(domain, ifRevision);
  return domain;
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
