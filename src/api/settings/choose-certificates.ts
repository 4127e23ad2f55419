/** The certificates that a domain is served with: those that its customer wants, if they are fit. docs/decisions/0171, 0433 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { quote } from '#contract/schema/found.ts';
import type { Schema } from '#db/schema/schema.ts';
import { findCertificatesFor } from '#db/tables/certificates.ts';
import type { Certificate } from '#model/certificate.ts';
import { coversName } from '#model/certificate-names.ts';
import type { Domain, DomainSettings } from '#model/domain.ts';
import { refuseMissing } from './refuse-missing.ts';

export type CertificateKeys = Pick<DomainSettings, 'sslKey' | 'secondSslKey'>;

/**
 * Chooses the certificates of a domain: omitted ones stay, but a second certificate gives way to a new first one of its
 * own kind.
 */
export async function chooseCertificates(
  trx: Transaction<Schema>,
  { id, accountId, name, settings }: Domain,
  wanted: { readonly [K in keyof CertificateKeys]: CertificateKeys[K] | undefined },
  now: number,
): Promise<CertificateKeys> {
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
