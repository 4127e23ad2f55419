/** What clients are likely to refuse in a chain that the service takes. Pure. docs/decisions/0431 */
import { X509Certificate } from 'node:crypto';
import { getPublicSuffix } from 'tldts';
import { type CertificateChain, describeSubject } from './certificate.ts';
import { demandsStaple, maySignHandshakes } from './certificate-extensions.ts';
import { findMissingIssuer } from './chain-end.ts';
import { parsePem } from './pem.ts';

/** Codes of warnings; words in backquotes are members of `values` that the text uses. */
type CertificateWarningCode =
  /** The leaf's validity begins later. `time` */
  | 'notYetValid'
  /** Longer than Apple's clients accept. `days` */
  | 'validTooLong'
  /** There is no domain name in `subjectAltName`. */
  | 'noNames'
  /** A wildcard that clients accept for no host: of a single label, or of a public suffix. `name` */
  | 'wildcardTooBroad'
  /** The leaf's extended key usage leaves servers out. */
  | 'notForServers'
  /** The leaf's key usage has no digital signature, which every handshake needs. */
  | 'keyMayNotSign'
  /** The leaf's key is Ed25519. */
  | 'keyNotInBrowsers'
  /** The certificate requires an OCSP response, which edges do not send. */
  | 'mustStaple'
  /** A certificate of the chain is signed with SHA-1 or MD5. `subject` */
  | 'weakSignature'
  /** `subject`, `time` */
  | 'intermediateExpired'
  /** `subject`, `time` */
  | 'intermediateNotYetValid'
  /** A certificate above the leaf is not an authority's. `subject` */
  | 'intermediateNotAuthority'
  /** The leaf has signed itself. */
  | 'selfSigned'
  /** The issuer of the last certificate is neither in the file nor widely known. `issuer` */
  | 'issuerMissing'
  /** A client that trusts the end of the chain refuses it all the same. `reason`: OpenSSL's code */
  | 'clientsRefuse';

export interface CertificateWarning {
  readonly code: CertificateWarningCode;
  /** Values for the text. */
  readonly values: Readonly<Record<string, string>>;
}

interface WarningOptions {
  /**
   * The chain as the customer sent it, PEM, which may hold a root that `chain` leaves out; absent: a missing issuer is
   * not looked for.
   */
  readonly text?: string;
  /** Certificates of widely known authorities, PEM. */
  readonly authorities: readonly string[];
  readonly now: number;
}

export function findWarnings(
  { chain, names }: Pick<CertificateChain, 'chain' | 'names'>,
  { text, authorities, now }: WarningOptions,
): readonly CertificateWarning[] {
  const pem = parsePem(chain);
  const certificates = pem.kind === 'blocks' ? pem.blocks.map(({ bytes }) => new X509Certificate(bytes)) : [];
  const [leaf, ...intermediates] = certificates;
  if (leaf === undefined) return [];
  return [
    ...warnOfLeaf(leaf, now),
    ...warnOfNames(names),
    ...certificates.flatMap(warnOfSignature),
    ...intermediates.flatMap((certificate) => warnOfIntermediate(certificate, now)),
    ...warnOfEnd(leaf, text === undefined ? undefined : findMissingIssuer(text, authorities)),
  ];
}

function warnOfLeaf(leaf: X509Certificate, now: number): readonly CertificateWarning[] {
  const from = leaf.validFromDate.getTime();
  const days = Math.floor((leaf.validToDate.getTime() - from) / DAY_MS);
  // Node's name for the extended key usage.
  const purposes: readonly string[] | undefined = leaf.keyUsage;
  const isForServers = purposes === undefined || purposes.some((oid) => SERVER_PURPOSES.includes(oid));
  return [
    ...(from > now + CLOCK_SKEW_MS ? [warning('notYetValid', { time: leaf.validFromDate.toISOString() })] : []),
    ...(days > MAX_VALIDITY_DAYS ? [warning('validTooLong', { days: String(days) })] : []),
    ...(isForServers ? [] : [warning('notForServers')]),
    ...(maySignHandshakes(leaf) ? [] : [warning('keyMayNotSign')]),
    ...(leaf.publicKey.asymmetricKeyType === 'ed25519' ? [warning('keyNotInBrowsers')] : []),
    ...(demandsStaple(leaf) ? [warning('mustStaple')] : []),
  ];
}

const DAY_MS = 24 * 3_600_000;
/** An authority's clock may be so far ahead of ours. */
const CLOCK_SKEW_MS = 60_000;
/** Apple's limit for certificates of any authority. */
const MAX_VALIDITY_DAYS = 825;
/** serverAuth and anyExtendedKeyUsage. RFC 5280 §4.2.1.12 */
const SERVER_PURPOSES: readonly string[] = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

function warnOfNames(names: readonly string[]): readonly CertificateWarning[] {
  if (names.length === 0) return [warning('noNames')];
  const broad = names.filter((name) => name.startsWith('*.') && isTooBroad(name.slice('*.'.length)));
  return broad.map((name) => warning('wildcardTooBroad', { name }));
}

function isTooBroad(base: string): boolean {
  return !base.includes('.') || getPublicSuffix(base) === base;
}

function warnOfSignature(certificate: X509Certificate): readonly CertificateWarning[] {
  if (!/sha-?1(?!\d)|md5/i.test(certificate.signatureAlgorithm ?? '')) return [];
  return [warning('weakSignature', { subject: describeSubject(certificate) })];
}

function warnOfIntermediate(certificate: X509Certificate, now: number): readonly CertificateWarning[] {
  const { validFromDate, validToDate, ca } = certificate;
  const subject = describeSubject(certificate);
  return [
    ...(validToDate.getTime() <= now
      ? [warning('intermediateExpired', { subject, time: validToDate.toISOString() })]
      : []),
    ...(validFromDate.getTime() > now + CLOCK_SKEW_MS
      ? [warning('intermediateNotYetValid', { subject, time: validFromDate.toISOString() })]
      : []),
    ...(ca ? [] : [warning('intermediateNotAuthority', { subject })]),
  ];
}

function warnOfEnd(leaf: X509Certificate, missing: string | undefined): readonly CertificateWarning[] {
  if (missing !== undefined) return [warning('issuerMissing', { issuer: JSON.stringify(missing) })];
  return leaf.subject === leaf.issuer ? [warning('selfSigned')] : [];
}

function warning(code: CertificateWarning['code'], values: CertificateWarning['values'] = {}): CertificateWarning {
  return { code, values };
}
