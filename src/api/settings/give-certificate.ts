/** A certificate that the service has obtained becomes one of the account, and the domain's. docs/decisions/0194 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { addAuditEvents } from '#db/tables/audit.ts';
import { addCertificate, deleteCertificate, findCertificatesFor } from '#db/tables/certificates.ts';
import { keepRevision } from '#db/tables/domain-revisions.ts';
import { findDomainToChange, saveDomain } from '#db/tables/domains.ts';
import type { Given, ObtainedCertificate } from '#model/certificate-order.ts';
import { saveAndPublish } from './change.ts';
import { changedDomain } from './domain-event.ts';

const AUTHORITY = { kind: 'service', name: 'acme', address: '' } as const;

export async function giveCertificate(
  trx: Transaction<Schema>,
  { ring, maxCertificates }: { readonly ring: Keyring; readonly maxCertificates: number },
  { domainId, instead, isReplaced, chain, privateKey, now }: ObtainedCertificate,
): Promise<Given> {
  const domain = await findDomainToChange(trx, { id: domainId });
  if (domain === undefined || domain.settings.sslKey !== instead) return { kind: 'unwanted' };
  const { accountId, name } = domain;
  const certificate = { accountId, title: name, chain, privateKey, now };
  const max = maxCertificates + (isReplaced ? 1 : 0); // another one goes
  const sslKey = await addCertificate(trx, ring, certificate, max);
  if (sslKey === undefined) return { kind: 'full' };
  const kept = domain.settings.secondSslKey;
  // Holds those before, too.
  const keys = kept === '' ? [sslKey] : [sslKey, kept];
  const [obtained, second] = await findCertificatesFor(trx, domainId, accountId, keys);
  const secondSslKey = second?.keyKind === obtained?.keyKind ? '' : kept;
  const settings = { ...domain.settings, sslControl: true, sslKey, secondSslKey };
  const published = await saveAndPublish(trx, { ...domain, settings }, now);
  // A renewal is no change of settings: the domain does not read as one that is being configured.
  const saved = isReplaced ? { ...published, settingRevision: domain.settingRevision } : published;
  if (isReplaced) {
    await saveDomain(trx, saved);
    await deleteCertificate(trx, { accountId, key: instead });
  }
  await keepRevision(trx, saved, now);
  const operation = isReplaced ? 'certificate.renew' : 'certificate.obtain';
  const change = changedDomain(domain, saved, isReplaced ? undefined : saved.settingRevision);
  await addAuditEvents(trx, { at: now, actor: AUTHORITY, operation, requestId: '' }, [change]);
  return { kind: 'given', sslKey };
}
