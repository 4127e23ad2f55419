/**
 * Certificates and the domains that use them. A certificate is a feed resource while a domain uses it. In the database,
 * private keys are always sealed.
 */
import { createHash, type KeyObject, randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { toModelNames } from '#lib/model-names.ts';
import type { Certificate, CertificateChain, KeyKind } from '#model/certificate.ts';
import { lockInTransaction } from '../engines/engine.ts';
import type { CertificateRow, Executor, Schema } from '../schema/schema.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type SecretLocation, seal } from '../secrets/sealing.ts';
import type { OwnDomains } from './domain-filter.ts';
import { type Change, publish } from './resources.ts';

/** Kind of a feed resource whose key is that of the certificate and whose body is a `SealedPair`. */
export const CERTIFICATE_KIND = 'certificate';

/** The resource of a certificate before the feed unseals it. */
export interface SealedPair {
  /** PEM, leaf first. */
  readonly certificate: string;
  /** PKCS #8 PEM, sealed for `privateKeyLocation`. */
  readonly key: string;
}

export interface NewCertificate {
  readonly accountId: number;
  readonly title: string;
  readonly chain: CertificateChain;
  readonly privateKey: KeyObject;
  readonly now: number;
}

export interface CertificateKey {
  readonly accountId: number;
  readonly key: string;
}

export type Deleted =
  | { readonly kind: 'deleted' | 'missing' }
  /** Used by these domains, of which at most 20 are listed. */
  | { readonly kind: 'inUse'; readonly domains: readonly string[] };

/** Where a certificate's private key is stored. */
export function privateKeyLocation(key: string): SecretLocation {
  return { table: 'certificate', row: key, column: 'private_key' };
}

/**
 * Adds a certificate, unless the account has one with this chain already. Returns its key; `undefined` if the account
 * has `max` certificates. A private key that an export left out is restored and published.
 */
export async function addCertificate(
  trx: Transaction<Schema>,
  ring: Keyring,
  { accountId, title, chain, privateKey, now }: NewCertificate,
  max: number,
): Promise<string | undefined> {
  await lockInTransaction(trx, `certificates:${accountId}`);
  const fingerprint = createHash('sha256').update(chain.chain).digest('hex');
  const own = trx.selectFrom('certificate').where('account_id', '=', accountId);
  const present = await own.select(['key', 'private_key']).where('fingerprint', '=', fingerprint).executeTakeFirst();
  if (present?.private_key === '') await giveAnew(trx, present.key, sealKey(ring, present.key, privateKey), now);
  if (present !== undefined) return present.key;
  const { count } = await own.select((e) => e.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count >= max) return undefined;
  const key = randomBytes(KEY_BYTES).toString('hex');
  await trx
    .insertInto('certificate')
    .values({
      key,
      account_id: accountId,
      title,
      fingerprint,
      chain: chain.chain,
      private_key: sealKey(ring, key, privateKey),
      issuer: chain.issuer,
      names: JSON.stringify(chain.names),
      key_kind: chain.keyKind,
      valid_from: chain.validFrom,
      valid_to: chain.validTo,
      created_at: now,
    })
    .execute();
  return key;
}

function sealKey(ring: Keyring, key: string, privateKey: KeyObject): string {
  return seal(ring, privateKeyLocation(key), Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })));
}

async function giveAnew(trx: Transaction<Schema>, key: string, sealed: string, now: number): Promise<void> {
  await lockCertificates(trx, [key]);
  await trx.updateTable('certificate').set({ private_key: sealed }).where('key', '=', key).execute();
  if (await isUsed(trx, key)) await publish(trx, await toResources(trx, key), now);
}

const KEY_BYTES = 16;
/** Domains listed in an answer. */
const MAX_DOMAINS_NAMED = 20;

/**
 * Lists certificates in order of creation; without `page`, all of them. For a caller that may reach some domains only,
 * those that one of them uses.
 */
export async function listCertificates(
  x: Executor,
  { accountId, domainIds }: OwnDomains,
  page?: { readonly limit: number; readonly offset: number },
): Promise<readonly (Certificate & { readonly uses: number })[]> {
  const all = x
    .selectFrom('certificate')
    .select(SHOWN)
    .select((e) =>
      e
        .selectFrom('certificate_use')
        .whereRef('certificate_key', '=', 'certificate.key')
        .select((of) => of.fn.countAll<number>().as('uses'))
        .as('uses'),
    )
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('key');
  const used = x.selectFrom('certificate_use').select('certificate_key');
  const query = domainIds === undefined ? all : all.where('key', 'in', used.where('domain_id', 'in', domainIds));
  const rows = await (page === undefined ? query : query.limit(page.limit).offset(page.offset)).execute();
  return rows.map(({ uses, ...row }) => ({ ...toCertificate(row), uses: Number(uses) }));
}

/** Returns `undefined` also for another account's certificate. */
export async function findCertificate(
  x: Executor,
  { accountId, key }: CertificateKey,
): Promise<Certificate | undefined> {
  const row = await x
    .selectFrom('certificate')
    .select(SHOWN)
    .where('key', '=', key)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row && toCertificate(row);
}

/** Whether the caller may see a certificate of its account: one that is limited to domains sees what these use. */
export async function isCertificateReached(x: Executor, { domainIds }: OwnDomains, key: string): Promise<boolean> {
  if (domainIds === undefined) return true;
  const uses = x.selectFrom('certificate_use').select('domain_id').where('certificate_key', '=', key);
  return (await uses.where('domain_id', 'in', domainIds).limit(1).executeTakeFirst()) !== undefined;
}

/** The domains within reach that use a certificate, by name, at most `limit`; and their number. */
export async function listDomainsOfCertificate(
  x: Executor,
  { domainIds, sslKey, limit }: OwnDomains & { readonly sslKey: string; readonly limit: number },
): Promise<{ readonly total: number; readonly domains: readonly { readonly id: number; readonly name: string }[] }> {
  let uses = x
    .selectFrom('certificate_use')
    .innerJoin('domain', 'domain.id', 'domain_id')
    .where('certificate_key', '=', sslKey);
  if (domainIds !== undefined) uses = uses.where('domain_id', 'in', domainIds);
  const { total } = await uses.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const domains = await uses.select(['domain.id', 'domain.name']).orderBy('domain.name').limit(limit).execute();
  return { total: Number(total), domains };
}

/** Returns the chains of those of the certificates that exist: PEM, leaf first, and their names. */
export async function findChains(
  x: Executor,
  keys: readonly string[],
): Promise<readonly (Pick<Certificate, 'key' | 'names'> & { readonly chain: string })[]> {
  if (keys.length === 0) return [];
  const rows = await x.selectFrom('certificate').select(['key', 'names', 'chain']).where('key', 'in', keys).execute();
  return rows.map(({ key, names, chain }) => ({ key, names: JSON.parse(names), chain }));
}

/** Returns when those of the certificates that exist end. */
export async function findCertificateEnds(x: Executor, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const asked = [...new Set(keys)].filter((key) => key !== '');
  if (asked.length === 0) return new Map();
  const rows = await x.selectFrom('certificate').select(['key', 'valid_to']).where('key', 'in', asked).execute();
  return new Map(rows.map(({ key, valid_to }) => [key, valid_to]));
}

/** Returns the chain as PEM, leaf first; `undefined` if the certificate does not exist. */
export async function findChain(x: Executor, key: string): Promise<string | undefined> {
  return (await x.selectFrom('certificate').select('chain').where('key', '=', key).executeTakeFirst())?.chain;
}

export async function deleteCertificate(trx: Transaction<Schema>, which: CertificateKey): Promise<Deleted> {
  if ((await findCertificate(trx, which)) === undefined) return { kind: 'missing' };
  await lockCertificates(trx, [which.key]);
  const domains = await trx
    .selectFrom('certificate_use')
    .innerJoin('domain', 'domain.id', 'domain_id')
    .select('name')
    .where('certificate_key', '=', which.key)
    .orderBy('name')
    .limit(MAX_DOMAINS_NAMED)
    .execute();
  if (domains.length > 0) return { kind: 'inUse', domains: domains.map(({ name }) => name) };
  await trx.deleteFrom('certificate').where('key', '=', which.key).execute();
  return { kind: 'deleted' };
}

/**
 * Finds certificates for use by a domain and locks them until the transaction ends. In the order of `keys`; `undefined`
 * where the account has no such certificate.
 */
export async function findCertificatesFor(
  trx: Transaction<Schema>,
  domainId: number,
  accountId: number,
  keys: readonly string[],
): Promise<readonly (Certificate | undefined)[]> {
  await lockCertificates(trx, [...(await findUses(trx, domainId)), ...keys]);
  const rows = await trx
    .selectFrom('certificate')
    .select(SHOWN)
    .where('key', 'in', keys)
    .where('account_id', '=', accountId)
    .execute();
  return keys.map((key) => {
    const row = rows.find((one) => one.key === key);
    return row && toCertificate(row);
  });
}

/**
 * Sets the certificates of a domain. The caller holds the domain's lock, and has called `findCertificatesFor` for new
 * certificates. Returns the changes to publish: a certificate with each new user, and with each that leaves it, because
 * the groups that are to have it may be others then; its deletion with the last.
 */
export async function setCertificateUse(
  trx: Transaction<Schema>,
  domainId: number,
  keys: readonly string[],
): Promise<readonly Change[]> {
  const before = await findUses(trx, domainId);
  const added = keys.filter((key) => !before.includes(key));
  const dropped = before.filter((key) => !keys.includes(key));
  await lockCertificates(trx, [...added, ...dropped]);
  const changes: Change[] = [];
  for (const key of added) {
    changes.push(...(await toResources(trx, key)));
    await trx.insertInto('certificate_use').values({ domain_id: domainId, certificate_key: key }).execute();
  }
  const ofDomain = trx.deleteFrom('certificate_use').where('domain_id', '=', domainId);
  for (const key of dropped) {
    await ofDomain.where('certificate_key', '=', key).execute();
    if (await isUsed(trx, key)) changes.push(...(await toResources(trx, key)));
    else changes.push({ kind: CERTIFICATE_KIND, key, op: 'delete' });
  }
  return changes;
}

/** Names of the domains that use each certificate, by its key. */
export async function listCertificateUsers(
  x: Executor,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await x
    .selectFrom('certificate_use')
    .innerJoin('domain', 'domain.id', 'domain_id')
    .select(['certificate_key', 'name'])
    .where('certificate_key', 'in', keys)
    .execute();
  const byKey = Map.groupBy(rows, ({ certificate_key }) => certificate_key);
  return new Map([...byKey].map(([key, own]) => [key, own.map(({ name }) => name)]));
}

/** Locks certificates in a fixed order, so that two transactions never wait for each other. */
async function lockCertificates(trx: Transaction<Schema>, keys: readonly string[]): Promise<void> {
  for (const key of [...new Set(keys)].sort()) await lockInTransaction(trx, `certificate:${key}`);
}

async function findUses(trx: Executor, domainId: number): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('certificate_use')
    .select('certificate_key')
    .where('domain_id', '=', domainId)
    .orderBy('certificate_key')
    .execute();
  return rows.map(({ certificate_key }) => certificate_key);
}

async function isUsed(trx: Executor, key: string): Promise<boolean> {
  const query = trx.selectFrom('certificate_use').select('domain_id').where('certificate_key', '=', key);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** Returns the change that publishes a certificate; none while its private key is missing. */
async function toResources(trx: Executor, key: string): Promise<readonly Change[]> {
  const row = await trx
    .selectFrom('certificate')
    .select(['chain', 'private_key'])
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  const body: SealedPair = { certificate: row.chain, key: row.private_key };
  return row.private_key === '' ? [] : [{ kind: CERTIFICATE_KIND, key, op: 'put', body }];
}

/** Columns shown to users; chain and key are read only where needed. */
const SHOWN = ['key', 'account_id', 'title', 'issuer', 'names', 'key_kind', 'valid_from', 'valid_to'] as const;

function toCertificate(row: Pick<CertificateRow, (typeof SHOWN)[number]>): Certificate {
  // `as`: written by this file only.
  return { ...toModelNames(row), names: JSON.parse(row.names) as string[], keyKind: row.key_kind as KeyKind };
}
