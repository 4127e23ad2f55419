/**
 * What a balancer says first on a connection: whose it is. The PROXY protocol of HAProxy, version 1 (a line of text) and version 2
 * (binary). Pure: bytes in, an address out.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { plainAddress } from './cidr.ts';

export type ProxyHeader =
  | {
      readonly kind: 'header';
      /** What follows belongs to the client. */
      readonly sizeBytes: number;
      /** `undefined`: the balancer speaks for itself, or does not say for which client. */
      readonly client: string | undefined;
    }
  /** So far it is a prefix of a valid header. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed' };

/** A longer one of version 2 is refused; what is told beside the addresses is seldom more than some hundred bytes. */
export const MAX_PROXY_HEADER_BYTES = 4096;

/** `bytes` is all that has come so far. What it says does not depend on how much has come, once it says something. */
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
  // LOCAL: a connection of the balancer's own, such as a health check; the rest says nothing.
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
