/** Writes responses in the wire format of DNS, with names compressed (RFC 1035 §4.1.4). */
import { unitsOf } from '#lib/cidr.ts';
import { CLASS_IN, HEADER_BYTES, OPTIONS, type Query, TYPES } from './packet.ts';

interface Soa {
  readonly primary: string;
  readonly mailbox: string;
  readonly serial: number;
}

export type ResourceRecord = { readonly name: string; readonly ttl: number } & (
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'cname' | 'ns'; readonly target: string }
  | { readonly kind: 'soa'; readonly soa: Soa }
  | { readonly kind: 'hinfo'; readonly text: string }
);

export interface Response {
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  /** Prefix of the client's subnet that the answer is for; 0: for all. */
  readonly scope: number;
}

/** Size of our own responses over UDP, which no path breaks into fragments (DNS flag day 2020). */
export const MAX_UDP_BYTES = 1232;
/** Negative answers are kept so long. */
export const NEGATIVE_SECONDS = 30;

const RESPONSE = 0x8000;
const AUTHORITATIVE = 0x0400;
const TRUNCATED = 0x0200;
const RECURSION = 0x0100;
const SOA_TIMES = [3600, 600, 604_800, NEGATIVE_SECONDS] as const;
const POINTER = 0xc000;
/** Offsets in a pointer have 14 bits. */
const MAX_OFFSET = 0x3fff;

/** `limit`: bytes; a longer response is cut to its question, so that the client asks again over TCP. */
export function writeResponse(query: Query, response: Response, limit: number, cookie: Buffer | undefined): Buffer {
  const whole = writeAll(query, response, cookie, 0);
  return whole.length <= limit ? whole : writeTruncated(query, response.rcode, cookie);
}

/** A response without records, which asks the client to come again over TCP. */
export function writeTruncated(query: Query, rcode: number, cookie: Buffer | undefined): Buffer {
  return writeAll(query, { rcode, isAuthoritative: false, answers: [], authorities: [], scope: 0 }, cookie, TRUNCATED);
}

/** Answers what cannot be parsed. */
export function writeError({
  id,
  opcode,
  rcode,
}: {
  readonly id: number;
  readonly opcode: number;
  readonly rcode: number;
}) {
  const withEdns = rcode > 15;
  const header = writeHeader(id, RESPONSE | (opcode << 11) | (rcode & 15), [0, 0, 0, withEdns ? 1 : 0]);
  return withEdns ? Buffer.concat([header, writeOpt(rcode, [])]) : header;
}

function writeAll(query: Query, response: Response, cookie: Buffer | undefined, flag: number): Buffer {
  const { rcode, isAuthoritative, answers, authorities, scope } = response;
  const flags =
    RESPONSE | flag | (isAuthoritative ? AUTHORITATIVE : 0) | (query.wantsRecursion ? RECURSION : 0) | (rcode & 15);
  const counts = [1, answers.length, authorities.length, query.edns === undefined ? 0 : 1] as const;
  const names = new Names(query);
  const pieces = [writeHeader(query.id, flags, counts), query.question];
  let at = HEADER_BYTES + query.question.length;
  for (const record of [...answers, ...authorities]) {
    const bytes = writeRecord(record, at, names);
    pieces.push(bytes);
    at += bytes.length;
  }
  if (query.edns !== undefined) {
    const options: Buffer[] = [];
    if (query.edns.subnet !== undefined) options.push(writeSubnet(query.edns.subnet.bytes, scope));
    if (cookie !== undefined) options.push(writeOption(OPTIONS.cookie, cookie));
    pieces.push(writeOpt(rcode, options));
  }
  return Buffer.concat(pieces);
}

function writeHeader(id: number, flags: number, counts: readonly number[]): Buffer {
  return u16(id, flags, ...counts);
}

function writeRecord(record: ResourceRecord, at: number, names: Names): Buffer {
  const owner = names.write(record.name, at);
  const head = Buffer.concat([owner, u16(typeOf(record), CLASS_IN), u32(record.ttl)]);
  const data = writeData(record, at + head.length + 2, names);
  return Buffer.concat([head, u16(data.length), data]);
}

function typeOf(record: ResourceRecord): number {
  switch (record.kind) {
    case 'address':
      return record.address.includes(':') ? TYPES.AAAA : TYPES.A;
    case 'cname':
      return TYPES.CNAME;
    case 'ns':
      return TYPES.NS;
    case 'soa':
      return TYPES.SOA;
    case 'hinfo':
      return TYPES.HINFO;
  }
}

function writeData(record: ResourceRecord, at: number, names: Names): Buffer {
  switch (record.kind) {
    case 'address':
      return u16(...unitsOf(record.address));
    case 'cname':
    case 'ns':
      return names.write(record.target, at);
    case 'soa': {
      const { primary, mailbox, serial } = record.soa;
      const first = names.write(primary, at);
      return Buffer.concat([first, names.write(mailbox, at + first.length), u32(serial, ...SOA_TIMES)]);
    }
    case 'hinfo':
      return Buffer.from(`${String.fromCharCode(record.text.length)}${record.text}\0`, 'latin1');
  }
}

function writeSubnet(asked: Buffer, scope: number): Buffer {
  const echoed = Buffer.from(asked);
  echoed.writeUInt8(scope, 3);
  return writeOption(OPTIONS.subnet, echoed);
}

function writeOption(code: number, data: Buffer): Buffer {
  return Buffer.concat([u16(code, data.length), data]);
}

function writeOpt(rcode: number, options: readonly Buffer[]): Buffer {
  const data = Buffer.concat(options);
  const head = Buffer.concat([Buffer.alloc(1), u16(TYPES.OPT, MAX_UDP_BYTES), u32((rcode >> 4) * 2 ** 24)]);
  return Buffer.concat([head, u16(data.length), data]);
}

/** Where names stand in the packet, so that later ones can point there. */
class Names {
  readonly #offsets = new Map<string, number>();

  constructor({ name }: Query) {
    this.#note(name, HEADER_BYTES);
  }

  /** `at`: offset at which the name will stand. */
  write(name: string, at: number): Buffer {
    const pieces: Buffer[] = [];
    let rest = name;
    while (rest !== '') {
      const known = this.#offsets.get(rest);
      if (known !== undefined) {
        this.#note(name, at);
        return Buffer.concat([...pieces, u16(POINTER | known)]);
      }
      const [label = ''] = rest.split('.', 1);
      pieces.push(Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
      rest = rest.slice(label.length + 1);
    }
    this.#note(name, at);
    return Buffer.concat([...pieces, Buffer.alloc(1)]);
  }

  /** Notes the name, and each that it ends in. */
  #note(name: string, at: number): void {
    if (name.includes('\\')) return; // its text is longer than its bytes
    let offset = at;
    for (let rest = name; rest !== '' && offset <= MAX_OFFSET; ) {
      if (this.#offsets.has(rest)) return;
      this.#offsets.set(rest, offset);
      const [label = ''] = rest.split('.', 1);
      offset += label.length + 1;
      rest = rest.slice(label.length + 1);
    }
  }
}

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
