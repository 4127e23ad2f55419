/** The account's certificates, and which of its domains has which. docs/decisions/0170, 0171 */
import type { KeyObject } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import type { Transaction } from 'kysely';
import { CERTIFICATE_TEXT, PRIVATE_KEY_TEXT } from '#contract/certificate-operations.ts';
import { quote } from '#contract/found.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { localizeReason } from '#contract/reasons.ts';
import type { RouteName } from '#contract/routes.ts';
import { ServiceError } from '#contract/service-error.ts';
import type { Schema } from '#db/schema/schema.ts';
import { addCertificate, deleteCertificate, findCertificatesFor, listCertificates } from '#db/tables/certificates.ts';
import { type Certificate, type CertificateChain, parseChain } from '#model/certificate.ts';
import { coversName } from '#model/certificate-names.ts';
import { type CertificateWarning, findWarnings } from '#model/certificate-warnings.ts';
import type { Domain, DomainSettings } from '#model/domain.ts';
import { parsePrivateKey } from '#model/private-key.ts';
import { changeSettings } from '../settings/change.ts';
import { findStoredWarnings } from '../settings/stored-warnings.ts';
import { tryCertificate } from '../settings/try-certificate.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';
import { refuseMissing } from './refuse-missing.ts';

export const CERTIFICATE_HANDLERS = {
  'certificate.list': async ({ db, accountId, domainIds, now }, page) => {
    const certificates = await listCertificates(db.query, { accountId, domainIds }, page);
    // A whole list may be of thousands of certificates.
    const keys = page === undefined ? [] : certificates.map(({ key }) => key);
    const warnings = await findStoredWarnings(db.query, keys, now);
    return certificates.map((certificate) => ({
      ...certificate,
      isExpired: certificate.validTo <= now,
      warnings: warnings.get(certificate.key) ?? [],
    }));
  },

  'certificate.add': async ({ db, accountId, keyring, maxCertificates, now }, { title, ...texts }) => {
    const { chain, privateKey } = readPair(texts, now);
    const warnings = await warn(chain, privateKey, texts.certificate, now);
    const certificate = { accountId, title, chain, privateKey, now };
    const key = await db.transaction((trx) => addCertificate(trx, keyring, certificate, maxCertificates));
    if (key === undefined) throw new ServiceError('certificateLimit', { limit: maxCertificates });
    return { key, warnings };
  },

  'certificate.delete': async ({ db, accountId }, { sslKey }) => {
    const deleted = await db.transaction((trx) => deleteCertificate(trx, { accountId, key: sslKey }));
    if (deleted.kind === 'missing') throw new ServiceError('certificateNotFound', { sslKey: quote(sslKey) });
    if (deleted.kind === 'inUse') throw new ServiceError('certificateInUse', { domains: deleted.domains.join(', ') });
  },

  'config.setSsl': async (call, { domainId, isOn, chosen, ...wanted }) => {
    let keys: Keys = { sslKey: '', secondSslKey: '' };
    await changeSettings(call, domainId, async (domain, trx) => {
      const { settings } = domain;
      const https = { ...settings.https, ...chosen };
      if (!isOn) return { ...settings, https, sslControl: false, sslKey: '', secondSslKey: '' };
      keys = await chooseCertificates(trx, call, domain, wanted);
      return { ...settings, https, sslControl: true, ...keys };
    });
    return { warnings: await warningsOf(call, keys) };
  },

  'config.getSsl': async (call, { domainId }) => {
    const domain = await readOwnDomain(call, domainId);
    return { ...domain, warnings: await warningsOf(call, domain.settings) };
  },
} satisfies {
  readonly [N in RouteName as N extends `certificate.${string}` | `config.${string}Ssl` ? N : never]: Handler<N>;
};

type Keys = Pick<DomainSettings, 'sslKey' | 'secondSslKey'>;

/** The warnings of a domain's certificates, those of the first before those of the second. */
async function warningsOf(
  { db, now }: Pick<Call, 'db' | 'now'>,
  { sslKey, secondSslKey }: Keys,
): Promise<readonly CertificateWarning[]> {
  const keys = [sslKey, secondSslKey].filter((key) => key !== '');
  const found = await findStoredWarnings(db.query, keys, now);
  return keys.flatMap((key) => found.get(key) ?? []);
}

/**
 * Chooses the certificates of a domain: omitted ones stay, but a second certificate gives way to a new first one of its
 * own kind.
 */
async function chooseCertificates(
  trx: Transaction<Schema>,
  { accountId, now }: Pick<Call, 'accountId' | 'now'>,
  { id, name, settings }: Domain,
  wanted: { readonly [K in keyof Keys]: Keys[K] | undefined },
): Promise<Keys> {
  const sslKey = wanted.sslKey ?? settings.sslKey;
  const secondSslKey = wanted.secondSslKey ?? settings.secondSslKey;
  if (sslKey === '') refuseMissing(OPERATIONS['config.setSsl'].request.fields, 'ssl_key');
  const had: readonly string[] = [settings.sslKey, settings.secondSslKey];
  if (sslKey === settings.sslKey && secondSslKey === settings.secondSslKey) return { sslKey, secondSslKey };
  const keys = secondSslKey === '' ? [sslKey] : [sslKey, secondSslKey];
  const found = await findCertificatesFor(trx, id, accountId, keys);
  for (const [index, key] of keys.entries()) {
    if (had.includes(key)) continue; // one that has expired meanwhile stays
    const certificate = found[index];
    if (certificate === undefined) throw new ServiceError('certificateNotFound', { sslKey: quote(key) });
    refuseUnfit(certificate, name, index === 0 ? 'ssl_key' : 'ssl_key_second', now);
  }
  const [first, second] = found;
  if (second === undefined || second.keyKind !== first?.keyKind) return { sslKey, secondSslKey };
  if (wanted.secondSslKey === undefined) return { sslKey, secondSslKey: '' };
  throw new ServiceError('certificateSameKind', { kind: second.keyKind.toUpperCase() });
}

/** Nothing of the texts is in what is said about them. */
function readPair(
  texts: { readonly privateKey: string; readonly certificate: string },
  now: number,
): { readonly chain: CertificateChain; readonly privateKey: KeyObject } {
  const parsed = parsePrivateKey(texts.privateKey);
  if (parsed.kind === 'invalid') throw refusal('private_key', parsed.reason);
  const chain = parseChain(texts.certificate, parsed.key, now);
  if (chain.kind === 'invalid') throw refusal(chain.field, chain.reason);
  return { chain: chain.chain, privateKey: parsed.key };
}

/** Refuses a certificate with which no handshake succeeds. `text`: as it was sent. */
async function warn(
  chain: CertificateChain,
  privateKey: KeyObject,
  text: string,
  now: number,
): Promise<readonly CertificateWarning[]> {
  const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const trial = await tryCertificate({ certificate: chain.chain, key });
  if (trial.kind === 'failed') throw refusal('certificate', `cannot be used in a handshake: ${trial.reason}`);
  const warnings = findWarnings(chain, { text, authorities: rootCertificates, now });
  const isSaid = warnings.some(({ code }) => code === 'notForServers' || code === 'intermediateNotAuthority');
  if (trial.problem === undefined || isSaid) return warnings;
  return [...warnings, { code: 'clientsRefuse', values: { reason: trial.problem } }];
}

function refusal(field: 'private_key' | 'certificate', reason: string): ServiceError {
  const { expects } = field === 'certificate' ? CERTIFICATE_TEXT : PRIVATE_KEY_TEXT;
  return new ServiceError('pemInvalid', { field, expected: expects, reason: localizeReason(reason) });
}

function refuseUnfit({ names, validTo }: Certificate, name: string, field: string, now: number): void {
  if (validTo <= now) throw new ServiceError('certificateExpired', { field, time: new Date(validTo).toISOString() });
  if (coversName(names, name)) return;
  const covered = names.slice(0, MAX_NAMES_SHOWN).join(', ') + (names.length > MAX_NAMES_SHOWN ? ', …' : '');
  throw new ServiceError('certificateNotCovering', {
    field,
    name,
    names: covered === '' ? { 'zh-CN': '无', en: 'no domain' } : covered,
  });
}

const MAX_NAMES_SHOWN = 10;
