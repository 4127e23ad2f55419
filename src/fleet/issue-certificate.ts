/** Writes and signs the fleet's certificates: X.509 version 3 of P-256. RFC 5280 §4 */
import { createHash, type KeyObject, sign } from 'node:crypto';
import { derBits, derInteger, derObjectId, derSequence, derValue, readElements, TAG } from '#model/der.ts';
import { formatPem } from '#model/pem.ts';

/** A name in the subject's alternative names. */
export type AlternativeName = { readonly kind: 'dns' | 'uri'; readonly text: string };

export interface CertificateDraft {
  readonly publicKey: KeyObject;
  /** Common names. An authority's own certificate has the same for both. */
  readonly subject: string;
  readonly issuer: string;
  /** An unsigned number of 1 to 20 bytes. */
  readonly serial: Buffer;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Public key of the signer. */
  readonly issuerKey: KeyObject;
  readonly use:
    | { readonly kind: 'authority' }
    | {
        readonly kind: 'leaf';
        readonly names: readonly AlternativeName[];
        readonly purposes: readonly ('client' | 'server')[];
      };
}

/** Returns the certificate as PEM. `signer`: the private half of `issuerKey`. */
export function issueCertificate(draft: CertificateDraft, signer: KeyObject): string {
  const body = derSequence(
    derValue(0xa0, derInteger(Buffer.of(2))), // version 3
    derInteger(draft.serial),
    ALGORITHM,
    commonName(draft.issuer),
    derSequence(time(draft.notBefore), time(draft.notAfter)),
    commonName(draft.subject),
    exportSpki(draft.publicKey),
    derValue(0xa3, derSequence(...extensionsOf(draft))),
  );
  return formatPem('CERTIFICATE', derSequence(body, ALGORITHM, derBits(sign('sha256', body, signer))));
}

/** Returns the subject key identifier in hex: SHA-1 of the key's bits. RFC 5280 §4.2.1.2 */
export function keyIdOf(publicKey: KeyObject): string {
  const bits = readElements(readElements(exportSpki(publicKey))[0]?.content)[1]?.content ?? Buffer.alloc(0);
  return createHash('sha1').update(bits.subarray(1)).digest('hex');
}

/** Returns SHA-256 of the key as a `SubjectPublicKeyInfo`. */
export function fingerprintOf(publicKey: KeyObject): Buffer {
  return createHash('sha256').update(exportSpki(publicKey)).digest();
}

function exportSpki(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

function extensionsOf({ publicKey, issuerKey, use }: CertificateDraft): readonly Buffer[] {
  const keyIds = [
    extension('2.5.29.14', derValue(TAG.octetString, Buffer.from(keyIdOf(publicKey), 'hex'))),
    extension('2.5.29.35', derSequence(derValue(0x80, Buffer.from(keyIdOf(issuerKey), 'hex')))),
  ];
  if (use.kind === 'authority') {
    // No authority below it: pathLenConstraint 0.
    const isAuthority = derSequence(derValue(TAG.boolean, Buffer.of(0xff)), derInteger(Buffer.of(0)));
    return [...keyIds, critical('2.5.29.19', isAuthority), critical('2.5.29.15', bits(2, KEY_CERT_SIGN))];
  }
  const names = use.names.map(({ kind, text }) => derValue(kind === 'dns' ? 0x82 : 0x86, Buffer.from(text, 'latin1')));
  return [
    ...keyIds,
    critical('2.5.29.19', derSequence()),
    critical('2.5.29.15', bits(7, DIGITAL_SIGNATURE)),
    extension('2.5.29.37', derSequence(...use.purposes.map((purpose) => derObjectId(PURPOSES[purpose])))),
    extension('2.5.29.17', derSequence(...names)),
  ];
}

const PURPOSES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };
const DIGITAL_SIGNATURE = 0x80;
const KEY_CERT_SIGN = 0x04;
const ALGORITHM = derSequence(derObjectId('1.2.840.10045.4.3.2')); // ECDSA with SHA-256

function bits(unused: number, byte: number): Buffer {
  return derValue(TAG.bitString, Buffer.of(unused, byte));
}

function extension(id: string, value: Buffer): Buffer {
  return derSequence(derObjectId(id), derValue(TAG.octetString, value));
}

function critical(id: string, value: Buffer): Buffer {
  return derSequence(derObjectId(id), derValue(TAG.boolean, Buffer.of(0xff)), derValue(TAG.octetString, value));
}

function commonName(text: string): Buffer {
  const attribute = derSequence(derObjectId('2.5.4.3'), derValue(TAG.utf8String, Buffer.from(text)));
  return derSequence(derValue(TAG.set, attribute));
}

/** Whole seconds; two digits of the year before 2050. RFC 5280 §4.1.2.5 */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\.\d+|[-:T]/g, '');
  const isShort = at < Date.UTC(2050, 0);
  return derValue(isShort ? TAG.utcTime : TAG.generalizedTime, Buffer.from(isShort ? digits.slice(2) : digits));
}
