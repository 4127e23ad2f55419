/**
 * Certificate signing requests, PKCS #10 in DER: makes one for a name, and reads the key of one. RFC 2986, RFC 8555
 * §7.4
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { derBits, derObjectId, derSequence, derValue, readElements, TAG } from './der.ts';

/** Longest request that is read, in bytes. */
export const MAX_CSR_BYTES = 4096;

export type ReadCsr =
  /** The request is signed with the private half of `publicKey`, which is of P-256. */
  { readonly kind: 'csr'; readonly publicKey: KeyObject } | { readonly kind: 'invalid'; readonly reason: string };

/** Makes a request for one domain name, or for none if `name` is empty. `key`: P-256. */
export function makeCsr(name: string, key: KeyObject): Buffer {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const info = derSequence(VERSION, NO_SUBJECT, publicKey, derValue(0xa0, name === '' ? NOTHING : extensionsFor(name)));
  return derSequence(info, derSequence(ECDSA_WITH_SHA256), derBits(sign('sha256', info, key)));
}

/** Reads the public key and verifies the signature. The names of the request are ignored. */
export function readCsr(der: Buffer): ReadCsr {
  if (der.length > MAX_CSR_BYTES) return invalid(`the request is longer than ${MAX_CSR_BYTES} bytes`);
  const [outer, ...others] = readElements(der);
  const [info, algorithm, signature] = readElements(outer?.content);
  const spki = readElements(info?.content)[2]?.raw;
  if (outer?.raw.length !== der.length || others.length > 0 || info === undefined || spki === undefined)
    return invalid('the request is not PKCS #10 in DER');
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    return invalid('the request has a public key that cannot be read'); // OpenSSL's own message would not help
  }
  if (publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    return invalid('the request has a key that is not of P-256');
  if (algorithm === undefined || !algorithm.content.equals(ECDSA_WITH_SHA256))
    return invalid('the request is not signed by ECDSA with SHA-256');
  const isSigned = signature?.content[0] === 0 && verify('sha256', info.raw, publicKey, signature.content.subarray(1));
  return isSigned ? { kind: 'csr', publicKey } : invalid('the request has a signature that does not match its key');
}

function extensionsFor(name: string): Buffer {
  const names = derSequence(derValue(0x82, Buffer.from(name, 'latin1'))); // dNSName. RFC 5280 §4.2.1.6
  const extensions = derSequence(derSequence(SUBJECT_ALT_NAME, derValue(TAG.octetString, names)));
  return derSequence(EXTENSION_REQUEST, derValue(TAG.set, extensions));
}

function invalid(reason: string): ReadCsr {
  return { kind: 'invalid', reason };
}

const NOTHING = Buffer.alloc(0);
const VERSION = Buffer.of(0x02, 1, 0);
const NO_SUBJECT = derSequence();
const SUBJECT_ALT_NAME = derObjectId('2.5.29.17');
const EXTENSION_REQUEST = derObjectId('1.2.840.113549.1.9.14');
const ECDSA_WITH_SHA256 = derObjectId('1.2.840.10045.4.3.2');
