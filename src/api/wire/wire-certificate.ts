/** Certificates and the HTTPS of a domain, their words on the wire and in the model. Used by `wire.ts` only. */
import type { X509Certificate } from 'node:crypto';
import type { CERTIFICATE_STATUSES } from '#contract/domains/certificate-operations.ts';
import { describeWarning } from '#contract/domains/certificate-warnings.ts';
import { CERTIFICATE_STATUS_LABELS } from '#contract/domains/labels.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { WIRE_HTTPS_SETTINGS } from '#contract/settings/settings.ts';
import type { Certificate } from '#model/certificate.ts';
import type { CertificateWarning } from '#model/certificate-warnings.ts';
import type { DomainSettings } from '#model/domain.ts';
import { type Look, writeSslKeys } from './wire-domain.ts';
import { writeFlag } from './wire-values.ts';

/** A certificate at an instant. */
export interface CertificateView extends Certificate {
  /** Number of domains that use it. */
  readonly uses: number;
  readonly isExpired: boolean;
  readonly warnings: readonly CertificateWarning[];
}

/** A certificate for itself. */
export interface CertificateDetail extends CertificateView {
  readonly isAutomatic: boolean;
  /** The own one first. */
  readonly chain: readonly X509Certificate[];
  readonly domains: readonly { readonly id: number; readonly name: string }[];
}

export function readNewCertificate({ ssl_title, private_key, certificate }: RequestOf<'certificate.add'>) {
  return { title: ssl_title, privateKey: private_key, certificate };
}

export interface AddedCertificate {
  readonly key: string;
  readonly warnings: readonly CertificateWarning[];
}

export function writeAddedCertificate({ key, warnings }: AddedCertificate, look: Look): DataOf<'certificate.add'> {
  return { ssl_key: key, ...writeCertificateWarnings(warnings, look) };
}

/** Left out when there are none. */
export function writeCertificateWarnings(
  warnings: readonly CertificateWarning[],
  { locale }: Look,
): Pick<DataOf<'certificate.add'>, 'warnings'> {
  if (warnings.length === 0) return {};
  return { warnings: warnings.map(({ code, values }) => ({ code, text: describeWarning(code, values, locale) })) };
}

export interface SslWarnings {
  readonly warnings: readonly CertificateWarning[];
}

/** What `info` says behind the word of success. */
export function noteSslWarnings({ warnings }: SslWarnings, { locale }: Look): string {
  const separator = locale === 'zh-CN' ? '；' : '; ';
  return warnings.map(({ code, values }) => separator + describeWarning(code, values, locale)).join('');
}

/** What is `undefined` stays as it is. */
export function readSsl(request: RequestOf<'config.setSsl'>) {
  return {
    domainId: request.domain_id,
    isOn: request.ssl_control,
    sslKey: request.ssl_key,
    secondSslKey: request.ssl_key_second,
    chosen: WIRE_HTTPS_SETTINGS.readGiven(request),
  };
}

function writeCertificate(view: CertificateView, look: Look): DataOf<'certificate.list'>[number] {
  const status = statusOf(view);
  return {
    ssl_key: view.key,
    title: view.title,
    issuer: view.issuer,
    key_kind: view.keyKind,
    validfrom_time: Math.floor(view.validFrom / 1000),
    validto_time: Math.floor(view.validTo / 1000),
    subjectaltname: view.names.join(','),
    status,
    status_name: CERTIFICATE_STATUS_LABELS[status][look.locale],
    ...writeCertificateWarnings(view.warnings, look),
  };
}

export function writeCertificatePage(
  { views, isPage }: { readonly views: readonly CertificateView[]; readonly isPage: boolean },
  look: Look,
): DataOf<'certificate.list'> {
  return views.map((view) => ({ ...writeCertificate(view, look), ...(isPage && { domains: view.uses }) }));
}

export function writeCertificateDetail(view: CertificateDetail, look: Look): DataOf<'certificate.get'> {
  return {
    ...writeCertificate(view, look),
    domains: view.uses,
    automatic: writeFlag(view.isAutomatic),
    chain: view.chain.map((one) => ({
      subject: onOneLine(one.subject),
      issuer: onOneLine(one.issuer),
      serial: one.serialNumber,
      fingerprint: one.fingerprint256,
      valid_from_at: one.validFromDate.getTime(),
      valid_to_at: one.validToDate.getTime(),
    })),
    used_by: view.domains.map(({ id, name }) => ({ domain_id: String(id), domain_name: name })),
    used_by_total: view.uses,
  };
}

const MAX_NAME_CHARS = 512;

function onOneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ').slice(0, MAX_NAME_CHARS).toWellFormed();
}

export function writeSsl({
  sslControl,
  sslKey,
  secondSslKey,
  https,
}: DomainSettings): Omit<DataOf<'config.getSsl'>, 'revision'> {
  return {
    ssl_control: writeFlag(sslControl),
    ...writeSslKeys({ sslControl, sslKey, secondSslKey }),
    ...WIRE_HTTPS_SETTINGS.write(https),
  };
}

function statusOf({ uses, isExpired }: CertificateView): (typeof CERTIFICATE_STATUSES)[number] {
  if (uses > 0) return 'InUse';
  return isExpired ? 'Expired' : 'Unused';
}
