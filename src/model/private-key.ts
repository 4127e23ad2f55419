/**
 * A customer's private key: read from PEM, and of a kind that is served. Nothing of a key is in what is said about it.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { NOT_PEM, type PemBlock, parsePem } from './pem.ts';

export type PrivateKey =
  | { readonly kind: 'key'; readonly key: KeyObject }
  /** `reason` completes the sentence "field private_key …". */
  | { readonly kind: 'invalid'; readonly reason: string };

const MIN_RSA_BITS = 2048;
/** A handshake with a longer one costs too much. docs/decisions/0330 */
const MAX_RSA_BITS = 4096;
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384' };

const FORMATS: Readonly<Record<string, 'pkcs8' | 'pkcs1' | 'sec1'>> = {
  'PRIVATE KEY': 'pkcs8',
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
};

/** PKCS #8, PKCS #1 or SEC 1. Blocks that hold no private key are passed over, as in a file that has the chain too. */
export function parsePrivateKey(text: string): PrivateKey {
  const pem = parsePem(text);
  if (pem.kind === 'invalid') return pem;
  const keys = pem.blocks.filter(({ label }) => label.endsWith('PRIVATE KEY'));
  const [block, ...more] = keys;
  if (block === undefined) return invalid(whyNoKey(pem.blocks));
  if (more.length > 0) return invalid(`holds ${keys.length} private keys: one is expected`);
  if (block.isEncrypted || block.label === 'ENCRYPTED PRIVATE KEY') {
    return invalid(
      'is encrypted: remove its passphrase first, for example with openssl pkey -in key.pem -out plain.pem',
    );
  }
  const format = FORMATS[block.label];
  if (format === undefined) return invalid(`is in an unknown format: ${block.label}`);
  return readKey(block.bytes, format);
}

/** What is served: RSA of 2048 to 4096 bits, P-256, P-384, Ed25519. Completes "field … "; `undefined`: it is. */
function whyNotServed({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve = 'unknown' } = details;
  if (type === 'ed25519' || (type === 'ec' && Object.hasOwn(CURVES, namedCurve))) return undefined;
  if (type === 'rsa') {
    if (modulusLength < MIN_RSA_BITS) return `is RSA of ${modulusLength} bits: at least ${MIN_RSA_BITS} are needed`;
    return modulusLength > MAX_RSA_BITS
      ? `is RSA of ${modulusLength} bits: at most ${MAX_RSA_BITS} can be served`
      : undefined;
  }
  const kind = type === 'ec' ? `of the curve ${namedCurve}` : String(type);
  return `is of an unsupported kind: ${kind} (supported: RSA, ${Object.values(CURVES).join(', ')} and Ed25519)`;
}

function readKey(der: Buffer, type: 'pkcs8' | 'pkcs1' | 'sec1'): PrivateKey {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: der, format: 'der', type });
  } catch {
    return invalid('cannot be read as a private key'); // OpenSSL's own message would not help
  }
  const reason = whyNotServed(key);
  return reason === undefined ? { kind: 'key', key } : invalid(reason);
}

function whyNoKey(blocks: readonly PemBlock[]): string {
  const [first] = blocks;
  if (first === undefined) return NOT_PEM;
  return `holds no private key, but ${first.label}`;
}

function invalid(reason: string): PrivateKey {
  return { kind: 'invalid', reason };
}
