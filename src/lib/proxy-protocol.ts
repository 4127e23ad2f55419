/**
 * Parses the header with which a load balancer names the client of a connection: HAProxy's PROXY protocol, version 1
 * (text) and version 2 (binary). Pure.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { plainAddress } from './cidr.ts';

export type ProxyHeader =
  | {
      readonly kind: 'header';
      /** Size of the header; the bytes after it are the client's. */
      readonly sizeBytes: number;
      /** `undefined` if the connection is the balancer's own, or the client is not named. */
      readonly client: string | undefined;
    }
  /** The bytes are a prefix of a valid header. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed' };

/** Larger headers of version 2 are refused; extensions seldom exceed some hundred bytes. */
export const MAX_PROXY_HEADER_BYTES = 4096;

/**
 * Parses a header from all bytes received so far. A result other than `incomplete` does not change when more bytes
 * arrive.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsLike(bytes, SIGNATURE)) return bytes.length < FIXED_BYTES ? INCOMPLETE : readBinary(bytes);
  if (beginsLike(bytes, WORD)) return readLine(bytes);
  return MALFORMED;
}

const INCOMPLETE: ProxyHeader = { kind: 'incomplete' };
const MALFORMED: ProxyHeader = { kind: 'malformed' };

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const WORD = Buffer.from('PROXY ', 'latin1');

function beginsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

/** Signature, version and command, family and transport, and the length of what follows. §2.2 of its specification */
const FIXED_BYTES = 16;

function readBinary(bytes: Buffer): ProxyHeader {
  const versionAndCommand = bytes.readUInt8(12);
  const family = bytes.readUInt8(13);
  const length = bytes.readUInt16BE(14);
  const sizeBytes = FIXED_BYTES + length;
  if (sizeBytes > MAX_PROXY_HEADER_BYTES) return MALFORMED;
  // LOCAL: a connection of the balancer itself, such as a health check; the rest is ignored.
  if (versionAndCommand === 0x20) return whole(bytes, sizeBytes, () => undefined);
  const known = FAMILIES.get(family);
  if (versionAndCommand !== 0x21 || known === undefined || length < known.addressBytes) return MALFORMED;
  return whole(bytes, sizeBytes, () => known.client(bytes.subarray(FIXED_BYTES, sizeBytes)));
}

function whole(bytes: Buffer, sizeBytes: number, client: () => string | undefined): ProxyHeader {
  return bytes.length < sizeBytes ? INCOMPLETE : { kind: 'header', sizeBytes, client: client() };
}

interface Family {
  readonly addressBytes: number;
  readonly client: (block: Buffer) => string | undefined;
}

/** Address families that a TCP connection can have. Extensions (TLVs) after the addresses are skipped. */
const FAMILIES: ReadonlyMap<number, Family> = new Map<number, Family>([
  [0x00, { addressBytes: 0, client: () => undefined }], // unspecified
  [0x11, { addressBytes: 12, client: (block) => [...block.subarray(0, 4)].join('.') }], // TCP over IPv4
  [0x21, { addressBytes: 36, client: (block) => plainAddress(groupsOf(block.subarray(0, 16))) }], // TCP over IPv6
  [0x31, { addressBytes: 216, client: () => undefined }], // a unix socket
]);

function groupsOf(address: Buffer): string {
  return address.toString('hex').match(/..../g)?.join(':') ?? '';
}

/** Longest header line, line end included. §2.1 */
const MAX_LINE_BYTES = 107;

function readLine(bytes: Buffer): ProxyHeader {
  const line = bytes.subarray(0, MAX_LINE_BYTES).toString('latin1');
  const end = line.indexOf('\r\n');
  if (end === -1) return line.length < MAX_LINE_BYTES ? INCOMPLETE : MALFORMED;
  const sizeBytes = end + 2;
  const [, family, ...words] = line.slice(0, end).split(' ');
  if (family === 'UNKNOWN') return { kind: 'header', sizeBytes, client: undefined };
  const [source = '', destination = '', ...ports] = words;
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : () => false;
  if (!isAddress(source) || !isAddress(destination) || ports.length !== 2 || !ports.every(isPort)) return MALFORMED;
  const client = plainAddress(source);
  return client === undefined ? MALFORMED : { kind: 'header', sizeBytes, client };
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}
