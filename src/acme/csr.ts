/**
 * Makes a certificate signing request for one name: PKCS #10 in DER with the fields that an authority reads. RFC 2986,
 * RFC 8555 §7.4
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';

/** `key`: P-256. */
export function makeCsr(name: string, key: KeyObject): Buffer {
  const names = sequence(value(0x82, Buffer.from(name, 'latin1'))); // dNSName. RFC 5280 §4.2.1.6
  const extensions = sequence(sequence(SUBJECT_ALT_NAME, value(0x04, names)));
  const attributes = value(0xa0, sequence(EXTENSION_REQUEST, value(0x31, extensions)));
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const info = sequence(VERSION, NO_SUBJECT, publicKey, attributes);
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', info, key)]); // no unused bits
  return sequence(info, sequence(ECDSA_WITH_SHA256), value(0x03, signature));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return value(0x30, Buffer.concat(parts));
}

function value(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]; // names are far shorter than 64 KiB
  return Buffer.concat([Buffer.of(tag, ...bytes), content]);
}

const VERSION = Buffer.of(0x02, 1, 0);
const NO_SUBJECT = sequence();
/** 2.5.29.17, 1.2.840.113549.1.9.14, 1.2.840.10045.4.3.2 */
const SUBJECT_ALT_NAME = Buffer.of(0x06, 3, 0x55, 0x1d, 0x11);
const EXTENSION_REQUEST = Buffer.of(0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e);
const ECDSA_WITH_SHA256 = Buffer.of(0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02);
