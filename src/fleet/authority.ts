/**
 * The fleet's own certificate authority: its certificate, the leaves under it, and the check of a leaf that is
 * presented. docs/decisions/0582
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type X509Certificate,
} from 'node:crypto';
import { EDGE_ID } from '#model/fleet.ts';
import { type AlternativeName, fingerprintOf, issueCertificate, keyIdOf } from './issue-certificate.ts';

const DAY_MS = 86_400_000;
export const LEAF_LIFE_MS = 7 * DAY_MS;
export const CONTROL_LIFE_MS = 90 * DAY_MS;
const AUTHORITY_LIFE_MS = 3650 * DAY_MS;
/** Leaves of edges are valid from this long before they are made, for controls whose clocks differ. */
const EARLIER_MS = DAY_MS;
/**
 * Authorities and controls are valid from 1970 on: an edge whose clock is behind must be able to follow control, which
 * shows it as unhealthy. docs/decisions/0575
 */
const ALWAYS = 0;
export const SERIAL_BYTES = 16;

/** An authority as it is stored. */
export interface FleetAuthority {
  /** Subject key identifier, hex. */
  readonly key: string;
  /** PEM. */
  readonly certificate: string;
  /** PKCS #8 PEM. */
  readonly privateKey: string;
}

export interface Issued {
  /** PEM: the leaf. */
  readonly certificate: string;
  /** Hex, as in `X509Certificate.serialNumber` but in lower case. */
  readonly serial: string;
  readonly notAfter: number;
}

/** `serial`: 16 random bytes. */
export function makeAuthority(fleet: string, now: number, serial: Buffer): FleetAuthority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = authorityName(fleet);
  const draft = {
    publicKey,
    issuerKey: publicKey,
    subject: name,
    issuer: name,
    serial: positive(serial),
    notBefore: ALWAYS,
    notAfter: now + AUTHORITY_LIFE_MS,
    use: { kind: 'authority' },
  } as const;
  return {
    key: keyIdOf(publicKey),
    certificate: issueCertificate(draft, privateKey),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Issues the certificate of an edge, which presents it to control, and to other edges from both ends. */
export function issueEdgeLeaf(
  authority: FleetAuthority,
  { fleet, edge, publicKey, ...rest }: LeafOptions & { readonly edge: string },
): Issued {
  const names = [{ kind: 'uri', text: edgeUri(fleet, edge) }] as const;
  const life = { notBefore: rest.now - EARLIER_MS, notAfter: rest.now + LEAF_LIFE_MS };
  return issueLeaf(authority, {
    ...rest,
    fleet,
    publicKey,
    subject: edge,
    names,
    purposes: ['client', 'server'],
    ...life,
  });
}

/** Issues the certificate of control on the fleet listener. */
export function issueControlLeaf(authority: FleetAuthority, { fleet, ...rest }: LeafOptions): Issued {
  const subject = controlName(fleet);
  const names = [{ kind: 'dns', text: subject }] as const;
  const life = { notBefore: ALWAYS, notAfter: rest.now + CONTROL_LIFE_MS };
  return issueLeaf(authority, { ...rest, fleet, subject, names, purposes: ['server'], ...life });
}

interface LeafOptions {
  readonly fleet: string;
  readonly publicKey: KeyObject;
  readonly now: number;
  /** 16 random bytes. */
  readonly serial: Buffer;
}

interface NamedLeaf extends LeafOptions {
  readonly subject: string;
  readonly names: readonly AlternativeName[];
  readonly purposes: readonly ('client' | 'server')[];
  readonly notBefore: number;
  readonly notAfter: number;
}

function issueLeaf(authority: FleetAuthority, leaf: NamedLeaf): Issued {
  const signer = createPrivateKey(authority.privateKey);
  const { publicKey, subject, notBefore, names, purposes } = leaf;
  const serial = positive(leaf.serial);
  const notAfter = toWholeSecond(leaf.notAfter);
  const draft = {
    publicKey,
    issuerKey: createPublicKey(signer),
    subject,
    issuer: authorityName(leaf.fleet),
    serial,
    notBefore,
    notAfter,
    use: { kind: 'leaf', names, purposes },
  } as const;
  return { certificate: issueCertificate(draft, signer), serial: serial.toString('hex'), notAfter };
}

/** Clears the first bit and sets the second, so that the number has one form in DER, in Node and in the database. */
function positive(serial: Buffer): Buffer {
  const bytes = Buffer.from(serial);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

function toWholeSecond(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

/** Name that edges verify on whatever address they have dialled. */
export function controlName(fleet: string): string {
  return `control.${fleet}.causeway.internal`;
}

function authorityName(fleet: string): string {
  return `Causeway fleet ${fleet}`;
}

/** Returns the fleet's id; `undefined` if the certificate is not one of a fleet's authority. */
export function fleetOf(authority: X509Certificate): string | undefined {
  return /^CN=Causeway fleet ([0-9a-f]{8})$/.exec(authority.subject ?? '')?.[1];
}

function edgeUri(fleet: string, edge: string): string {
  return `urn:causeway:${fleet}:edge:${edge}`;
}

/** Returns SHA-256 of the authority's public key, in base64url: what a token pins. */
export function pinOf(authority: X509Certificate): string {
  return fingerprintOf(authority.publicKey).toString('base64url');
}

/** Whether the leaf is signed by the authority. Its dates are not considered. */
export function isIssuedBy(leaf: X509Certificate, authority: X509Certificate): boolean {
  try {
    return leaf.checkIssued(authority) && leaf.verify(authority.publicKey);
  } catch {
    return false; // a key of an unknown type
  }
}

/** The content of an edge's certificate. */
export interface PresentedLeaf {
  readonly edge: string;
  /** Hex, lower case. */
  readonly serial: string;
  readonly notAfter: number;
}

/** Object identifier of the purpose `clientAuth`. */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** Reads a leaf of this fleet; `undefined` if it is not for an edge. The caller has verified the signature. */
export function readEdgeLeaf(fleet: string, leaf: X509Certificate): PresentedLeaf | undefined {
  const isClient = leaf.keyUsage?.includes(CLIENT_AUTH) === true;
  const start = edgeUri(fleet, '');
  const [uri, ...others] = namesOf(leaf, 'URI:');
  if (!isClient || uri === undefined || others.length > 0 || !uri.startsWith(start)) return undefined;
  return presented(uri.slice(start.length), leaf);
}

/**
 * Reads a leaf of the operator's own authority: the edge's URI, or else the one DNS name. `undefined` if it has
 * neither.
 */
export function readOwnLeaf(fleet: string, leaf: X509Certificate): PresentedLeaf | undefined {
  const byUri = readEdgeLeaf(fleet, leaf);
  if (byUri !== undefined) return byUri;
  const [name, ...others] = namesOf(leaf, 'DNS:');
  const isClient = leaf.keyUsage === undefined || leaf.keyUsage.includes(CLIENT_AUTH);
  return name === undefined || others.length > 0 || !isClient ? undefined : presented(name.toLowerCase(), leaf);
}

/**
 * Returns the id of the edge that a certificate of any authority names: by a URI of any fleet, or by its one DNS name.
 */
export function readCertificateName(leaf: X509Certificate): string | undefined {
  const [uri = ''] = namesOf(leaf, 'URI:');
  const [fleet] = /(?<=^urn:causeway:)[0-9a-f]{8}(?=:edge:)/.exec(uri) ?? [];
  return readOwnLeaf(fleet ?? '', leaf)?.edge;
}

function presented(edge: string, leaf: X509Certificate): PresentedLeaf | undefined {
  if (!EDGE_ID.test(edge)) return undefined;
  return { edge, serial: leaf.serialNumber.toLowerCase(), notAfter: leaf.validToDate.getTime() };
}

/** Quoted names are skipped: they contain characters that none of our names has. */
function namesOf(leaf: X509Certificate, kind: string): readonly string[] {
  const all = (leaf.subjectAltName ?? '').split(', ');
  return all.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
}
