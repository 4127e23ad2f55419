/** One certificate with its chain, and the domains that use it. */
import { X509Certificate } from 'node:crypto';
import { MAX_SHOWN_DOMAINS } from '#contract/domains/certificate-view-operations.ts';
import { hasObtained } from '#db/tables/certificate-orders.ts';
import { findChain, listDomainsOfCertificate } from '#db/tables/certificates.ts';
import { CERTIFICATE_LABELS } from '#model/certificate.ts';
import { formatPem, parsePem } from '#model/pem.ts';
import { findStoredWarnings } from '../settings/stored-warnings.ts';
import type { CertificateDetail } from '../wire/wire-certificate.ts';
import { findCertificateOrRefuse } from './bulk-changes.ts';
import type { Handler } from './handler.ts';

export const CERTIFICATE_VIEW_HANDLERS = {
  'certificate.get': async (call, { sslKey }): Promise<CertificateDetail> => {
    const { db, now } = call;
    const certificate = await findCertificateOrRefuse(call, sslKey);
    const { total, domains } = await listDomainsOfCertificate(db.query, { ...call, sslKey, limit: MAX_SHOWN_DOMAINS });
    const warnings = await findStoredWarnings(db.query, [sslKey], now);
    return {
      ...certificate,
      uses: total,
      isExpired: certificate.validTo <= now,
      warnings: warnings.get(sslKey) ?? [],
      isAutomatic: await hasObtained(db.query, sslKey),
      chain: readChain((await findChain(db.query, sslKey)) ?? ''),
      domains,
    };
  },
} satisfies { readonly [N in 'certificate.get']: Handler<N> };

function readChain(text: string): readonly X509Certificate[] {
  const pem = parsePem(text);
  if (pem.kind === 'invalid') return [];
  const blocks = pem.blocks.filter(({ label }) => CERTIFICATE_LABELS.includes(label));
  return blocks.map(({ bytes }) => new X509Certificate(formatPem('CERTIFICATE', bytes)));
}
