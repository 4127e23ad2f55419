/**
 * The wire format of DNS (RFC 1035), as far as a name server for addresses needs it: reads queries, with EDNS
 * (RFC 6891), client subnets (RFC 7871) and cookies (RFC 7873). `response.ts` writes responses. docs/decisions/0722
 */
import { plainAddress } from '#lib/cidr.ts';

export const TYPES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  HINFO: 13,
  AAAA: 28,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;
export const CLASS_IN = 1;
export const RCODES = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  nameError: 3,
  notImplemented: 4,
  refused: 5,
  badVersion: 16,
} as const;
export const OPTIONS = { subnet: 8, cookie: 10 } as const;
export const HEADER_BYTES = 12;

interface Subnet {
  /** First address of the network, in canonical form. */
  readonly address: string;
  /** 0: the client does not want to be located. */
  readonly prefix: number;
  /** The option as it was sent, to be echoed. */
  readonly bytes: Buffer;
}

interface Edns {
  /** Largest response over UDP that the client takes. */
  readonly udpBytes: number;
  readonly subnet: Subnet | undefined;
  /** Client cookie, with the server cookie that the client has from before. */
  readonly cookie: Buffer | undefined;
}

export interface Query {
  readonly id: number;
  /** RD, which a response repeats. */
  readonly wantsRecursion: boolean;
  /** The name in lower case; a dot within a label, or a byte beyond printable ASCII, is written as `\046`. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** The question as it was sent, with the letters' case. */
  readonly question: Buffer;
  readonly edns: Edns | undefined;
}

export type ParsedQuery =
  | { readonly kind: 'query'; readonly query: Query }
  /** Answered with this code and no question. */
  | { readonly kind: 'bad'; readonly id: number; readonly opcode: number; readonly rcode: number }
  /** Not a query: never answered, so that two servers cannot answer each other for ever. */
  | { readonly kind: 'ignored' };

const RESPONSE_BIT = 0x8000;
const RECURSION_BIT = 0x0100;
const MIN_UDP_BYTES = 512;

export function parseQuery(packet: Buffer): ParsedQuery {
  if (packet.length < HEADER_BYTES) return { kind: 'ignored' };
  const id = packet.readUInt16BE(0);
  const flags = packet.readUInt16BE(2);
  const opcode = (flags >> 11) & 15;
  if ((flags & RESPONSE_BIT) !== 0) return { kind: 'ignored' };
  if (opcode !== 0) return { kind: 'bad', id, opcode, rcode: RCODES.notImplemented };
  try {
    const query = readQuery(new Reader(packet), { id, wantsRecursion: (flags & RECURSION_BIT) !== 0 });
    return typeof query === 'number' ? { kind: 'bad', id, opcode, rcode: query } : { kind: 'query', query };
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { kind: 'bad', id, opcode, rcode: RCODES.formatError };
  }
}

class FormatError extends Error {}

/** Returns a code of `RCODES` for a well-formed query that cannot be answered. Throws `FormatError`. */
function readQuery(reader: Reader, head: Pick<Query, 'id' | 'wantsRecursion'>): Query | number {
  const [questions, answers, authorities, additionals] = [
    reader.u16At(4),
    reader.u16At(6),
    reader.u16At(8),
    reader.u16At(10),
  ];
  if (questions !== 1 || answers !== 0 || authorities !== 0) throw new FormatError();
  reader.at = HEADER_BYTES;
  const name = reader.name();
  const [type, its] = [reader.u16(), reader.u16()];
  const question = reader.packet.subarray(HEADER_BYTES, reader.at);
  let edns: Edns | undefined;
  for (let left = additionals; left > 0; left--) {
    const record = readAdditional(reader);
    if (record.type !== TYPES.OPT) continue; // a signature of the transaction, which nobody has agreed on
    if (edns !== undefined || record.name !== '') throw new FormatError(); // RFC 6891 §6.1.1
    if (((record.ttl >>> 16) & 255) !== 0) return RCODES.badVersion;
    edns = { udpBytes: Math.max(MIN_UDP_BYTES, record.class), ...readOptions(new Reader(record.data)) };
  }
  return { ...head, name, type, class: its, question, edns };
}

function readAdditional(reader: Reader) {
  const name = reader.name();
  const [type, its, ttl] = [reader.u16(), reader.u16(), reader.u32()];
  return { name, type, class: its, ttl, data: reader.bytes(reader.u16()) };
}

function readOptions(reader: Reader): Pick<Edns, 'subnet' | 'cookie'> {
  let subnet: Subnet | undefined;
  let cookie: Buffer | undefined;
  while (reader.at < reader.packet.length) {
    const [code, length] = [reader.u16(), reader.u16()];
    const data = reader.bytes(length);
    if (code === OPTIONS.subnet) subnet = readSubnet(data);
    if (code === OPTIONS.cookie) cookie = readCookie(data);
  }
  return { subnet, cookie };
}

/** RFC 7871 §6: as many bytes as the prefix needs, with zeros beyond it, and no scope. */
function readSubnet(bytes: Buffer): Subnet {
  const reader = new Reader(bytes);
  const [family, prefix, scope] = [reader.u16(), reader.u8(), reader.u8()];
  const width = family === 1 ? 4 : 16;
  const given = bytes.subarray(reader.at);
  if ((family !== 1 && family !== 2) || scope !== 0 || prefix > width * 8) throw new FormatError();
  if (given.length !== Math.ceil(prefix / 8)) throw new FormatError();
  const free = given.length * 8 - prefix;
  if (((given.at(-1) ?? 0) & (2 ** free - 1)) !== 0) throw new FormatError();
  const address = Buffer.concat([given, Buffer.alloc(width - given.length)]);
  return { address: printAddress(address), prefix, bytes };
}

export function printAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const text = (bytes.toString('hex').match(/.{4}/g) ?? []).join(':');
  return plainAddress(text) ?? text;
}

/** RFC 7873 §4: 8 bytes of the client, then none or 8 to 32 of the server. */
function readCookie(bytes: Buffer): Buffer {
  if (bytes.length !== 8 && (bytes.length < 16 || bytes.length > 40)) throw new FormatError();
  return bytes;
}

const MAX_NAME_BYTES = 255;

/** Each method throws `FormatError` beyond the end. */
class Reader {
  readonly packet: Buffer;
  at = 0;

  constructor(packet: Buffer) {
    this.packet = packet;
  }

  u16At(offset: number): number {
    return this.packet.readUInt16BE(offset);
  }

  u8(): number {
    return this.bytes(1).readUInt8(0);
  }

  u16(): number {
    return this.bytes(2).readUInt16BE(0);
  }

  u32(): number {
    return this.bytes(4).readUInt32BE(0);
  }

  bytes(count: number): Buffer {
    const end = this.at + count;
    if (end > this.packet.length) throw new FormatError();
    const bytes = this.packet.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  /** A query has no earlier name that a compressed one could point to. */
  name(): string {
    const labels: string[] = [];
    let length = 1;
    for (let size = this.u8(); size > 0; size = this.u8()) {
      length += size + 1;
      if (size > 63 || length > MAX_NAME_BYTES) throw new FormatError();
      labels.push(printLabel(this.bytes(size)));
    }
    return labels.join('.');
  }
}

function printLabel(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .toLowerCase()
    .replace(/[^!-~]|[.\\]/g, (letter) => `\\${String(letter.charCodeAt(0)).padStart(3, '0')}`);
}
