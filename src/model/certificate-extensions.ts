/** Extensions of a certificate that Node does not give, read from its DER. RFC 5280 §4.1 */
import type { X509Certificate } from 'node:crypto';
import { readElements, TAG } from './der.ts';

/**
 * Whether the key may sign handshakes: `keyUsage` is absent or has `digitalSignature`. RFC 5280 §4.2.1.3, RFC 8446
 * §4.4.2.2
 */
export function maySignHandshakes(certificate: X509Certificate): boolean {
  const value = findExtension(certificate, KEY_USAGE);
  if (value === undefined) return true;
  const [tag, , , bits = 0] = value; // a BIT STRING: tag, length, unused bits, bits
  return tag === TAG.bitString && (bits & DIGITAL_SIGNATURE) !== 0;
}

/** Whether the certificate requires a stapled OCSP response ("must staple"). RFC 7633 */
export function demandsStaple(certificate: X509Certificate): boolean {
  return findExtension(certificate, TLS_FEATURE) !== undefined;
}

/**
 * What a certificate is called where an authority is asked when to renew it: the issuer's key and the serial number.
 * `undefined`: it does not say whose key signed it. RFC 9773 §4.1
 */
export function renewalIdOf(certificate: X509Certificate): string | undefined {
  const issuer = readElements(readElements(findExtension(certificate, AUTHORITY_KEY_IDENTIFIER))[0]?.content);
  const keyId = issuer.find(({ tag }) => tag === KEY_IDENTIFIER)?.content;
  const [body] = readElements(readElements(certificate.raw)[0]?.content);
  const serial = readElements(body?.content).find(({ tag }) => tag === TAG.integer)?.content;
  if (keyId === undefined || serial === undefined) return undefined;
  return `${keyId.toString('base64url')}.${serial.toString('base64url')}`;
}

/** Object identifiers, encoded. */
const AUTHORITY_KEY_IDENTIFIER = '551d23'; // 2.5.29.35
const KEY_USAGE = '551d0f'; // 2.5.29.15
const TLS_FEATURE = '2b06010505070118'; // 1.3.6.1.5.5.7.1.24
const DIGITAL_SIGNATURE = 0x80;

/**
 * Value of an extension, without its OCTET STRING. OpenSSL has parsed the certificate before, so its lengths are right.
 */
function findExtension({ raw }: X509Certificate, oid: string): Buffer | undefined {
  const [body] = readElements(readElements(raw)[0]?.content);
  const list = readElements(body?.content).find(({ tag }) => tag === EXTENSIONS);
  const extensions = readElements(readElements(list?.content)[0]?.content);
  const parts = extensions.map(({ content }) => readElements(content));
  return parts.find(([id]) => id?.content.toString('hex') === oid)?.at(-1)?.content;
}

const KEY_IDENTIFIER = 0x80;
const EXTENSIONS = 0xa3;
