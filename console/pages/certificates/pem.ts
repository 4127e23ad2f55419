/** What pasted or dropped PEM texts hold, read in the browser so that a wrong file is noticed before it is sent. Pure. */
import { type DerValue, readDer } from './der.ts';

export interface PemCertificate {
  /** Domains and addresses that it is for. */
  readonly names: readonly string[];
  /** Unix milliseconds. */
  readonly endsAt: number;
  readonly isAuthority: boolean;
}

export interface PemContent {
  /** Certificates that can be read. */
  readonly certificates: readonly PemCertificate[];
  readonly unreadable: number;
  /** The blocks with certificates, and the first one with a private key, as texts of their own. */
  readonly certificateText: string;
  readonly keyText: string;
  readonly keys: number;
  readonly isKeyEncrypted: boolean;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g;

export function readPem(text: string): PemContent {
  const blocks = [...text.matchAll(BLOCK)].map(([all, label = '', body = '']) => ({ all, label, body }));
  const found = blocks.filter(({ label }) => label === 'CERTIFICATE' || label === 'X509 CERTIFICATE');
  const keys = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY'));
  const read = found.map(({ body }) => readCertificate(body));
  const certificates = read.filter((one) => one !== undefined);
  return {
    certificates,
    unreadable: read.length - certificates.length,
    certificateText: found.map(({ all }) => `${all}\n`).join(''),
    keyText: keys[0] === undefined ? '' : `${keys[0].all}\n`,
    keys: keys.length,
    isKeyEncrypted: keys.some(({ label, body }) => label.startsWith('ENCRYPTED') || /Proc-Type:.*ENCRYPTED/.test(body)),
  };
}

/** The certificate that the others belong to: the one that is for names, and no authority. */
export function leafOf({ certificates }: Pick<PemContent, 'certificates'>): PemCertificate | undefined {
  return certificates.find(({ isAuthority, names }) => !isAuthority && names.length > 0) ?? certificates[0];
}

const EXPLICIT_VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const UTC_TIME = 0x17;
const DNS_NAME = 0x82;
const ADDRESS = 0x87;
const SUBJECT_ALT_NAME = '55 1d 11';
const BASIC_CONSTRAINTS = '55 1d 13';

function readCertificate(base64: string): PemCertificate | undefined {
  try {
    const whole = readDer(Uint8Array.from(atob(base64.replace(/\s+/g, '')), (character) => character.charCodeAt(0)));
    const signed = inside(inside(whole[0])[0]);
    // serial number, algorithm, issuer, validity; before them the version, if it is not the first
    const validity = inside(signed[signed[0]?.tag === EXPLICIT_VERSION ? 4 : 3]);
    const endsAt = readTime(validity[1]);
    if (Number.isNaN(endsAt)) return undefined;
    const extensions = inside(inside(signed.find(({ tag }) => tag === EXTENSIONS))[0]);
    const extension = (id: string) =>
      extensions
        .map(inside)
        .find(([name]) => hexOf(name) === id)
        ?.at(-1);
    const names = inside(inside(extension(SUBJECT_ALT_NAME))[0]).flatMap(readName);
    return { names, endsAt, isAuthority: inside(inside(extension(BASIC_CONSTRAINTS))[0])[0]?.bytes[0] === 0xff };
  } catch {
    return undefined; // not Base64, or not DER
  }
}

function inside(value: DerValue | undefined): readonly DerValue[] {
  return value === undefined ? [] : readDer(value.bytes);
}

/** `YYMMDDhhmmssZ`, whose years are 1950 to 2049, or `YYYYMMDDhhmmssZ` (RFC 5280 §4.1.2.5). */
function readTime(value: DerValue | undefined): number {
  const text = textOf(value);
  const century = Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const full = value?.tag === UTC_TIME ? century + text : text;
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full) ?? [];
  const [year = Number.NaN, month = 1, ...rest] = parts.map(Number);
  return Date.UTC(year, month - 1, ...rest);
}

function readName({ tag, bytes }: DerValue): readonly string[] {
  if (tag === DNS_NAME) return [textOf({ bytes })];
  if (tag !== ADDRESS) return [];
  if (bytes.length === 4) return [[...bytes].join('.')];
  const groups = Array.from({ length: bytes.length / 2 }, (_, at) =>
    ((bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return [groups.join(':')];
}

function textOf(value: Pick<DerValue, 'bytes'> | undefined): string {
  return String.fromCharCode(...(value?.bytes ?? []));
}

function hexOf(value: DerValue | undefined): string {
  return [...(value?.bytes ?? [])].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
