/** The account's certificates, and which of its domains has which. docs/decisions/0170, 0171 */
import type { KeyObject } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { CERTIFICATE_TEXT, PRIVATE_KEY_TEXT } from '#contract/domains/certificate-operations.ts';
import { localizeReason } from '#contract/errors/reasons.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { quote } from '#contract/schema/found.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { addCertificate, deleteCertificate, listCertificates } from '#db/tables/certificates.ts';
import { type CertificateChain, parseChain } from '#model/certificate.ts';
import { type CertificateWarning, findWarnings } from '#model/certificate-warnings.ts';
import { parsePrivateKey } from '#model/private-key.ts';
import { changeTopic } from '../settings/change-topics.ts';
import type { CertificateKeys } from '../settings/choose-certificates.ts';
import { findStoredWarnings } from '../settings/stored-warnings.ts';
import { tryCertificate } from '../settings/try-certificate.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

export const CERTIFICATE_HANDLERS = {
  'certificate.list': async ({ db, accountId, domainIds, now }, page) => {
    const certificates = await listCertificates(db.query, { accountId, domainIds }, page);
    // A whole list may be of thousands of certificates.
    const keys = page === undefined ? [] : certificates.map(({ key }) => key);
    const warnings = await findStoredWarnings(db.query, keys, now);
    const views = certificates.map((certificate) => ({
      ...certificate,
      isExpired: certificate.validTo <= now,
      warnings: warnings.get(certificate.key) ?? [],
    }));
    return { views, isPage: page !== undefined };
  },

  'certificate.add': async ({ db, accountId, keyring, maxCertificates, now }, { title, ...texts }) => {
    const { chain, privateKey } = readPair(texts, now);
    const warnings = await warn(chain, privateKey, texts.certificate, now);
    const certificate = { accountId, title, chain, privateKey, now };
    const key = await db.transaction(async (trx) => {
      const added = await addCertificate(trx, keyring, certificate, maxCertificates);
      if (added === undefined) throw new ServiceError('certificateLimit', { limit: maxCertificates });
      const target = { kind: 'certificate', id: added, name: title } as const;
      noteChanges(trx, [{ accountId, target, before: {}, after: { names: chain.names } }]);
      return added;
    });
    return { key, warnings };
  },

  'certificate.delete': async ({ db, accountId }, { sslKey }) => {
    await db.transaction(async (trx) => {
      const deleted = await deleteCertificate(trx, { accountId, key: sslKey });
      if (deleted.kind === 'missing') throw new ServiceError('certificateNotFound', { sslKey: quote(sslKey) });
      if (deleted.kind === 'inUse') throw new ServiceError('certificateInUse', { domains: deleted.domains.join(', ') });
    });
  },

  'config.setSsl': async (call, input) => {
    const { settings } = await changeTopic(call, input.domainId, 'ssl', input);
    return { warnings: await certificateWarnings(call, settings) };
  },

  'config.getSsl': async (call, { domainId }) => {
    const domain = await readOwnDomain(call, domainId);
    return { ...domain, warnings: await certificateWarnings(call, domain.settings) };
  },
} satisfies {
  readonly [N in Exclude<CertificateRoute, 'certificate.get' | 'certificate.replace'>]: Handler<N>;
};

type CertificateRoute = Extract<RouteName, `certificate.${string}` | `config.${string}Ssl`>;

/** The warnings of a domain's certificates, those of the first before those of the second. */
export async function certificateWarnings(
  { db, now }: Pick<Call, 'db' | 'now'>,
  { sslKey, secondSslKey }: CertificateKeys,
): Promise<readonly CertificateWarning[]> {
  const keys = [sslKey, secondSslKey].filter((key) => key !== '');
  const found = await findStoredWarnings(db.query, keys, now);
  return keys.flatMap((key) => found.get(key) ?? []);
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
