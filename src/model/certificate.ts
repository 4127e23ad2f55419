/**
 * A certificate as we store it and speak of it, and how a customer's PEM becomes one: the chain is put in order, and
 * what an edge could not use is refused.
 */
import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readNames } from './certificate-names.ts';
import { formatPem, NOT_PEM, parsePem } from './pem.ts';

export interface Certificate {
  /** The identifier on the wire, `ssl_key`. What is under it never changes. */
  readonly key: string;
  readonly accountId: number;
  readonly title: string;
  readonly issuer: string;
  /** Domain names that it is for, as they stand in it; lower-case. */
  readonly names: readonly string[];
  readonly keyKind: KeyKind;
  readonly validFrom: number;
  readonly validTo: number;
}

/** Kinds of keys that are served. */
export type KeyKind = 'rsa' | 'ecdsa' | 'ed25519';

/** What a chain says of itself, and the chain: PEM, leaf first, without self-issued certificates above it. */
export interface CertificateChain extends Pick<Certificate, 'issuer' | 'names' | 'keyKind' | 'validFrom' | 'validTo'> {
  readonly chain: string;
}

export type ParsedChain =
  | { readonly kind: 'chain'; readonly chain: CertificateChain }
  /** `reason` completes the sentence "field … …". */
  | { readonly kind: 'invalid'; readonly field: 'certificate' | 'private_key'; readonly reason: string };

const MAX_CHAIN_CERTIFICATES = 10;
const MAX_ISSUER_CHARS = 255;
const MAX_SUBJECT_CHARS = 60;
/** Labels of PEM blocks that hold a certificate; others are skipped. */
export const CERTIFICATE_LABELS: readonly string[] = ['CERTIFICATE', 'X509 CERTIFICATE'];

/** `key` is served, see `private-key.ts`. Blocks that are no certificates are passed over. */
export function parseChain(text: string, key: KeyObject, now: number): ParsedChain {
  const read = readCertificates(text);
  if (typeof read === 'string') return invalid(read);
  const leaves = read.filter((certificate) => certificate.checkPrivateKey(key));
  const [leaf, ...others] = leaves;
  if (leaf === undefined || !canSign(key, leaf)) {
    return { kind: 'invalid', field: 'private_key', reason: 'does not belong to the certificate' };
  }
  if (others.length > 0) return invalid(`holds ${leaves.length} certificates of the private key: one is expected`);
  const { chain, strangers } = orderChain(leaf, read);
  const [stranger] = strangers;
  if (stranger !== undefined)
    return invalid(`holds a certificate that is not part of its chain: ${describeSubject(stranger)}`);
  if (Number.isNaN(leaf.validFromDate.getTime() + leaf.validToDate.getTime()))
    return invalid('has no readable validity');
  if (leaf.validToDate.getTime() <= now) return invalid(`expired at ${leaf.validToDate.toISOString()}`);
  const pem = chain.map(({ raw }) => formatPem('CERTIFICATE', raw)).join('');
  const weakness = whyNotSent({ cert: pem });
  if (weakness !== undefined) return invalid(`makes a chain that TLS does not accept: ${weakness}`);
  return { kind: 'chain', chain: { ...readLeaf(leaf), chain: pem } };
}

/** Why an edge cannot use what it was sent; `undefined`: it can. The text holds nothing of the key. */
export function whyNoPair(chain: string, key: string): string | undefined {
  try {
    const isPair = new X509Certificate(chain).checkPrivateKey(createPrivateKey(key));
    if (!isPair) return 'the private key does not belong to the certificate';
  } catch {
    return 'certificate, key: cannot be read';
  }
  return whyNotSent({ cert: chain, key });
}

/** Each once, however often it was sent; or why they cannot be had. */
function readCertificates(text: string): readonly X509Certificate[] | string {
  const pem = parsePem(text);
  if (pem.kind === 'invalid') return pem.reason;
  const blocks = pem.blocks.filter(({ label }) => CERTIFICATE_LABELS.includes(label));
  if (blocks.length === 0) {
    const [first] = pem.blocks;
    return first === undefined ? NOT_PEM : `holds no certificate, but ${first.label}`;
  }
  if (blocks.length > MAX_CHAIN_CERTIFICATES) {
    return `holds ${blocks.length} certificates: at most ${MAX_CHAIN_CERTIFICATES} make a chain`;
  }
  const found = new Map<string, X509Certificate>();
  for (const [index, { bytes }] of blocks.entries()) {
    try {
      const certificate = new X509Certificate(bytes);
      found.set(certificate.fingerprint256, certificate);
    } catch {
      return `has a block that is not a certificate: number ${index + 1}`;
    }
  }
  return [...found.values()];
}

/**
 * Everything that leads up from the leaf, nearest first; a client has the self-issued ones itself, or does not trust
 * them.
 */
function orderChain(leaf: X509Certificate, all: readonly X509Certificate[]) {
  const chain = [leaf];
  let rest = all.filter((certificate) => certificate !== leaf && certificate.subject !== certificate.issuer);
  for (const below of chain) {
    const above = rest.filter((certificate) => hasIssued(certificate, below));
    rest = rest.filter((certificate) => !above.includes(certificate));
    chain.push(...above);
  }
  return { chain, strangers: rest };
}

function hasIssued(certificate: X509Certificate, below: X509Certificate): boolean {
  try {
    return below.checkIssued(certificate) && below.verify(certificate.publicKey);
  } catch {
    return false; // its key is of an unknown type
  }
}

/**
 * What an edge's TLS has against it, in OpenSSL's words, such as an authority's key that is too short. `undefined`:
 * nothing.
 */
function whyNotSent(pair: { readonly cert: string; readonly key?: string }): string | undefined {
  try {
    createSecureContext(pair);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error:.*:/, '') : String(error);
  }
}

/** A key may have the public half of the certificate's and still be broken. */
function canSign(key: KeyObject, { publicKey }: X509Certificate): boolean {
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const text = Buffer.from('is this the key');
  try {
    return verify(digest, text, publicKey, sign(digest, text, key));
  } catch {
    return false; // it cannot sign at all
  }
}

function readLeaf(leaf: X509Certificate): Omit<CertificateChain, 'chain'> {
  return {
    issuer: describeIssuer(leaf),
    names: readNames(leaf),
    keyKind: keyKindOf(leaf.publicKey),
    validFrom: leaf.validFromDate.getTime(),
    validTo: leaf.validToDate.getTime(),
  };
}

/** Other kinds are refused before they are asked for: `private-key.ts`. */
export function keyKindOf({ asymmetricKeyType: type }: KeyObject): KeyKind {
  return type === 'ec' ? 'ecdsa' : type === 'ed25519' ? 'ed25519' : 'rsa';
}

/** What RFC 2253 §2.4 has a backslash before. */
const ESCAPED = /\\([,+"\\<>;# ])/g;

/** The issuer's common name, else its organization, else all of it. */
function describeIssuer({ issuer }: X509Certificate): string {
  const lines = (issuer ?? '').split('\n');
  const named = ['CN=', 'O='].map((start) => lines.find((line) => line.startsWith(start))?.slice(start.length));
  const shown = named.find((name) => name) ?? lines.join(', ');
  return shown.replace(ESCAPED, '$1').slice(0, MAX_ISSUER_CHARS).toWellFormed();
}

/** The subject in quotes, on one line and shortened for readers. */
export function describeSubject({ subject }: X509Certificate): string {
  return JSON.stringify((subject ?? '').split('\n').join(', ').slice(0, MAX_SUBJECT_CHARS).toWellFormed());
}

function invalid(reason: string): ParsedChain {
  return { kind: 'invalid', field: 'certificate', reason };
}
