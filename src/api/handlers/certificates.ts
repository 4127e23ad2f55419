/** The account's certificates, and which of its domains has which. docs/decisions/0170, 0171 */
import type { KeyObject } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { CERTIFICATE_TEXT, PRIVATE_KEY_TEXT } from '#contract/certificate-operations.ts';
import { quote } from '#contract/found.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { localizeReason } from '#contract/reasons.ts';
import type { RouteName } from '#contract/routes.ts';
import { ServiceError } from '#contract/service-error.ts';
import { addCertificate, deleteCertificate, findCertificateFor, listCertificates } from '#db/certificates.ts';
import { type Certificate, type CertificateChain, parseChain } from '#model/certificate.ts';
import { coversName } from '#model/certificate-names.ts';
import { type CertificateWarning, findWarnings } from '#model/certificate-warnings.ts';
import { parsePrivateKey } from '#model/private-key.ts';
import { changeSettings } from '../change.ts';
import { tryCertificate } from '../try-certificate.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';
import { refuseMissing } from './refuse-missing.ts';

export const CERTIFICATE_HANDLERS = {
  'certificate.list': async ({ db, accountId, now }) => {
    const certificates = await listCertificates(db.query, accountId);
    return certificates.map((certificate) => ({ ...certificate, isExpired: certificate.validTo <= now }));
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

  'config.setSsl': async (call, { domainId, isOn, sslKey: wanted, chosen }) => {
    const { accountId, now } = call;
    await changeSettings(call, domainId, async ({ name, settings }, trx) => {
      const https = {
        forceHttps: chosen.forceHttps ?? settings.https.forceHttps,
        hstsMaxAgeSeconds: chosen.hstsMaxAgeSeconds ?? settings.https.hstsMaxAgeSeconds,
        minVersion: chosen.minVersion ?? settings.https.minVersion,
      };
      if (!isOn) return { ...settings, https, sslControl: false, sslKey: '' };
      const sslKey = wanted ?? settings.sslKey;
      if (sslKey === '') refuseMissing(OPERATIONS['config.setSsl'].request.fields, 'ssl_key');
      if (sslKey !== settings.sslKey) {
        const certificate = await findCertificateFor(trx, domainId, { accountId, key: sslKey });
        if (certificate === undefined) throw new ServiceError('certificateNotFound', { sslKey: quote(sslKey) });
        refuseUnfit(certificate, name, now);
      }
      return { ...settings, https, sslControl: true, sslKey };
    });
  },

  'config.getSsl': async (call, { domainId }) => (await readOwnDomain(call, domainId)).settings,
} satisfies {
  readonly [N in RouteName as N extends `certificate.${string}` | `config.${string}Ssl` ? N : never]: Handler<N>;
};

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
  if (trial.kind === 'failed') throw refusal('certificate', `is of no use in a handshake: ${trial.reason}`);
  const warnings = findWarnings(chain, { text, authorities: rootCertificates, now });
  const isSaid = warnings.some(({ code }) => code === 'notForServers' || code === 'intermediateNotAuthority');
  if (trial.problem === undefined || isSaid) return warnings;
  return [...warnings, { code: 'clientsRefuse', values: { reason: trial.problem } }];
}

function refusal(field: 'private_key' | 'certificate', reason: string): ServiceError {
  const { expects } = field === 'certificate' ? CERTIFICATE_TEXT : PRIVATE_KEY_TEXT;
  return new ServiceError('pemInvalid', { field, expected: expects, reason: localizeReason(reason) });
}

function refuseUnfit({ names, validTo }: Certificate, name: string, now: number): void {
  if (validTo <= now) throw new ServiceError('certificateExpired', { time: new Date(validTo).toISOString() });
  if (coversName(names, name)) return;
  const covered = names.slice(0, MAX_NAMES_SHOWN).join(', ') + (names.length > MAX_NAMES_SHOWN ? ', …' : '');
  throw new ServiceError('certificateNotCovering', {
    name,
    names: covered === '' ? { 'zh-CN': '无', en: 'no domain' } : covered,
  });
}

const MAX_NAMES_SHOWN = 10;
