/** The domain names of a certificate, and which hosts they cover. Control and the edges decide by these functions alone. docs/decisions/0430 */
import type { X509Certificate } from 'node:crypto';

/**
 * The DNS names in `subjectAltName`, lower-case, each once. Clients look nowhere else: a common name is no name of a domain
 * (RFC 9525 §2). Addresses are left out, because clients send no address as a server name (RFC 6066 §3).
 */
export function readNames({ subjectAltName = '' }: Pick<X509Certificate, 'subjectAltName'>): readonly string[] {
  const names = [...subjectAltName.matchAll(ENTRY)].flatMap(([, type, value = '']) =>
    type === 'DNS' && DNS_NAME.test(value) ? [value.toLowerCase()] : [],
  );
  return [...new Set(names)];
}

/** Node separates entries by commas and puts a value in quotes where it holds a comma or another odd character. */
const ENTRY = /(?:^|, )([^:"]+):("(?:[^"\\]|\\.)*"|[^,"]*)/gs;
const DNS_NAME = /^[\w.*-]+$/;

/**
 * Whether a certificate for `names` covers `name`: a host, or a wildcard domain, which needs the same wildcard. A wildcard
 * stands for one whole label (RFC 9525 §6.3) and has at least two labels behind it: OpenSSL, curl, GnuTLS and Firefox accept
 * no `*.internal`.
 */
export function coversName(names: readonly string[], name: string): boolean {
  if (names.includes(name)) return true;
  const [label = '', ...above] = name.split('.');
  return label !== '*' && above.length >= MIN_LABELS_BELOW_WILDCARD && names.includes(['*', ...above].join('.'));
}

const MIN_LABELS_BELOW_WILDCARD = 2;
