/** A certificate that the service has obtained becomes one of the account, and the domain's. docs/decisions/0194 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { addCertificate, deleteCertificate, findCertificatesFor } from '#db/tables/certificates.ts';
import { findDomainToChange, saveDomain } from '#db/tables/domains.ts';
import type { Given, ObtainedCertificate } from '#model/certificate-order.ts';
import { saveAndPublish } from './change.ts';

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
  const saved = await saveAndPublish(trx, { ...domain, settings }, now);
  // A renewal is no change of settings: the domain does not read as one that is being configured.
  if (isReplaced) {
    await saveDomain(trx, { ...saved, settingRevision: domain.settingRevision });
    await deleteCertificate(trx, { accountId, key: instead });
  }
  return { kind: 'given', sslKey };
}
