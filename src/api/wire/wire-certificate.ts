/** Certificates and the HTTPS of a domain, their words on the wire and in the model. Used by `wire.ts` only. */
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
  readonly isInUse: boolean;
  readonly isExpired: boolean;
  readonly warnings: readonly CertificateWarning[];
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

export function writeCertificate(view: CertificateView, look: Look): DataOf<'certificate.list'>[number] {
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

function statusOf({ isInUse, isExpired }: CertificateView): (typeof CERTIFICATE_STATUSES)[number] {
  if (isInUse) return 'InUse';
  return isExpired ? 'Expired' : 'Unused';
}
