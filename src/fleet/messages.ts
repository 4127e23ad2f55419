/**
 * Messages of enrolment and renewal. POST /fleet/v1/enrol makes a machine an edge, without a client certificate; POST
 * /fleet/v1/renew gives an edge its next certificate. A refusal is plain text and begins with its word: `token: …`.
 */
import {
  MAX_BUILD_CHARS,
  MessageError,
  parseJson,
  readBoundedText,
  readCount,
  readEdge,
  readItems,
  readMembers,
} from '#feed/wire/messages.ts';
import { type FeedVersions, parseVersions } from '#feed/wire/versions.ts';
import { MAX_CSR_BYTES } from '#model/csr.ts';
import { FLEET_ID } from '#model/fleet.ts';

export const ENROL_PATH = '/fleet/v1/enrol';
export const RENEW_PATH = '/fleet/v1/renew';
/** An edge with a certificate of the operator's own authority posts its seal key and its machine here. */
export const ANNOUNCE_PATH = '/fleet/v1/announce';
/** Field of every request of an edge: its machine. See `machine.ts`. */
export const MACHINE_FIELD = 'causeway-machine';

/** Longest message. */
export const MAX_MESSAGE_BYTES = 16 * 1024;
const SEAL_KEY_BYTES = 32;
const MAX_TOKEN_CHARS = 256;
/** Controls that an edge knows. */
export const MAX_KNOWN_CONTROLS = 16;
const MAX_AUTHORITIES = 16;
const MAX_PEM_CHARS = 64 * 1024;

export interface EnrolRequest {
  readonly token: string;
  readonly csr: Buffer;
  /** X25519 public key, base64. */
  readonly seal: string;
  /** The wanted id. */
  readonly edge: string | undefined;
  readonly machine: string;
  readonly build: string;
  /** Versions of the feed that the machine speaks; `undefined`: it does not say. */
  readonly feed: FeedVersions | undefined;
}

export interface RenewRequest {
  readonly csr: Buffer;
  /** Serial of the certificate that is to be replaced. */
  readonly serial: string;
  readonly machine: string;
}

export interface AnnounceRequest {
  /** X25519 public key, base64. */
  readonly seal: string;
  readonly machine: string;
}

export interface AnnounceAnswer {
  readonly fleet: string;
  readonly group: string;
}

/** The answer to enrolment and renewal. */
export interface IdentityAnswer {
  readonly edge: string;
  readonly fleet: string;
  readonly group: string;
  /** PEM, leaf first. */
  readonly chain: string;
  /** PEM of every authority of the fleet. */
  readonly ca: readonly string[];
  readonly notAfter: number;
  readonly renewAfter: number;
  /** Addresses of controls, `https://host:port`; may be empty. */
  readonly controls: readonly string[];
}

/** Parses a message. This and the next four throw `MessageError`. */
export function parseEnrolRequest(text: string): EnrolRequest {
  const members = readMembers('body', parseJson(text));
  return {
    token: readBoundedText('token', members['token'], MAX_TOKEN_CHARS),
    csr: readCsrMember(members['csr']),
    seal: readSealKey(members['seal']),
    edge: members['edge'] === undefined ? undefined : readEdge(members['edge']),
    machine: readMachine(members['machine']),
    build: readBoundedText('build', members['build'], MAX_BUILD_CHARS),
    feed: members['feed'] === undefined ? undefined : readVersions(members['feed']),
  };
}

export function parseRenewRequest(text: string): RenewRequest {
  const members = readMembers('body', parseJson(text));
  const serial = readBoundedText('serial', members['serial'], 40);
  if (!/^[0-9a-f]+$/.test(serial)) throw new MessageError('serial: expected hexadecimal digits in lower case');
  return { csr: readCsrMember(members['csr']), serial, machine: readMachine(members['machine']) };
}

export function parseAnnounceRequest(text: string): AnnounceRequest {
  const members = readMembers('body', parseJson(text));
  return { seal: readSealKey(members['seal']), machine: readMachine(members['machine']) };
}

export function parseAnnounceAnswer(text: string): AnnounceAnswer {
  const members = readMembers('answer', parseJson(text));
  return { fleet: readFleetId(members['fleet']), group: readBoundedText('group', members['group'], 64) };
}

export function parseIdentityAnswer(text: string): IdentityAnswer {
  const members = readMembers('answer', parseJson(text));
  const fleet = readFleetId(members['fleet']);
  const ca = readTexts('ca', members['ca'], MAX_AUTHORITIES, MAX_PEM_CHARS);
  if (ca.length === 0) throw new MessageError('ca: expected an authority');
  return {
    edge: readEdge(members['edge']),
    fleet,
    group: readBoundedText('group', members['group'], 64),
    chain: readBoundedText('chain', members['chain'], MAX_PEM_CHARS),
    ca,
    notAfter: readCount('notAfter', members['notAfter']),
    renewAfter: readCount('renewAfter', members['renewAfter']),
    controls: readTexts('controls', members['controls'], MAX_KNOWN_CONTROLS, 300),
  };
}

function readVersions(value: unknown): FeedVersions {
  const versions = typeof value === 'string' ? parseVersions(value) : undefined;
  if (versions === undefined) throw new MessageError('feed: expected a version or a range, as in 2-3');
  return versions;
}

function readFleetId(value: unknown): string {
  const fleet = readBoundedText('fleet', value, 8);
  if (!FLEET_ID.test(fleet)) throw new MessageError('fleet: expected 8 hexadecimal digits');
  return fleet;
}

export function readMachine(value: unknown): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value))
    throw new MessageError('machine: expected 64 hexadecimal digits in lower case');
  return value;
}

function readSealKey(value: unknown): string {
  const isKey = typeof value === 'string' && value.length <= 64 && isBase64Of(value, SEAL_KEY_BYTES);
  if (!isKey) throw new MessageError(`seal: expected ${SEAL_KEY_BYTES} bytes in base64`);
  return value;
}

function readCsrMember(value: unknown): Buffer {
  const text = readBoundedText('csr', value, 4 * Math.ceil(MAX_CSR_BYTES / 3));
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new MessageError('csr: expected base64');
  return Buffer.from(text, 'base64');
}

function isBase64Of(text: string, bytes: number): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length === bytes;
}

function readTexts(member: string, value: unknown, maxTexts: number, maxChars: number): readonly string[] {
  return readItems(member, value, maxTexts).map((text) => readBoundedText(member, text, maxChars));
}
