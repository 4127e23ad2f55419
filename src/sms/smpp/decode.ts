/** A PDU's octets → values. Nothing is believed: every length is checked against the end of the PDU. */
import {
  type Command,
  commandOf,
  type Field,
  type Group,
  type Groups,
  LAYOUTS,
  type Layout,
  type Pdu,
  RESPONSE_BIT,
  type Tlv,
  type Value,
} from './layouts.ts';

export const HEADER_OCTETS = 16;

/** Of a text that ends with a NUL. */
const MAX_TEXT_OCTETS = 255;

export type Decoded =
  | { readonly kind: 'pdu'; readonly pdu: Pdu }
  /** No command of SMPP 3.4; where the next one begins is known all the same. */
  | { readonly kind: 'unknown'; readonly id: number; readonly sequence: number }
  | { readonly kind: 'malformed'; readonly reason: string; readonly sequence: number };

/** `frame` is as long as its first field says. */
export function decodePdu(frame: Buffer): Decoded {
  const id = frame.readUInt32BE(4);
  const sequence = frame.readUInt32BE(12);
  const command = commandOf(id);
  if (command === undefined) return { kind: 'unknown', id, sequence };
  try {
    return { kind: 'pdu', pdu: read(command, frame, sequence) };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return { kind: 'malformed', reason: `${command}: ${error.message}`, sequence };
  }
}

/** Never leaves this file. */
class Malformed extends Error {}

function read(command: Command, frame: Buffer, sequence: number): Pdu {
  const { id, fields: layout } = LAYOUTS[command];
  const reader = new Reader(frame);
  // SMPP 3.4 §4.4.2: an answer that reports an error has no body, and some carriers leave it out elsewhere.
  const isBare = id >= RESPONSE_BIT && reader.isAtEnd;
  const fields = isBare ? blank(layout) : readFields(reader, layout);
  const tlvs = readTlvs(reader);
  // The fields were read by the layout of this very command.
  return { command, status: frame.readUInt32BE(8), sequence, fields, tlvs } as unknown as Pdu;
}

function readFields(reader: Reader, layout: Layout): Group {
  const values: Record<string, Value> = {};
  for (const name in layout) values[name] = readField(reader, layout[name]);
  return values;
}

function readField(reader: Reader, field: Field | undefined): Value {
  switch (field?.kind) {
    case 'u32':
      return reader.u32();
    case 'octets':
      return reader.octets(reader.u8());
    case 'text':
      return reader.text();
    case 'groups':
      return readGroups(reader, field);
    default:
      return reader.u8();
  }
}

function readGroups(reader: Reader, groups: Groups): readonly Group[] {
  return Array.from({ length: reader.u8() }, () => {
    if (!('tagged' in groups)) return readFields(reader, groups.group);
    const flag = reader.u8();
    const layout = groups.tagged[flag];
    if (layout === undefined) throw new Malformed(`no destination is of kind ${flag}`);
    return { flag, ...readFields(reader, layout) };
  });
}

function readTlvs(reader: Reader): Tlv[] {
  const tlvs: Tlv[] = [];
  while (!reader.isAtEnd) {
    const tag = reader.u16();
    tlvs.push({ tag, value: reader.octets(reader.u16()) });
  }
  return tlvs;
}

function blank(layout: Layout): Group {
  const values = Object.entries(layout).map(([name, { kind }]): [string, Value] => {
    if (kind === 'text') return [name, ''];
    if (kind === 'octets') return [name, Buffer.alloc(0)];
    return [name, kind === 'groups' ? [] : 0];
  });
  return Object.fromEntries(values);
}

class Reader {
  readonly #bytes: Buffer;
  #at = HEADER_OCTETS;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  u16(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  u32(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  octets(count: number): Buffer {
    const begin = this.#take(count);
    return this.#bytes.subarray(begin, begin + count);
  }

  /** Carriers have ids and addresses beyond the standard's sizes. */
  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end === -1 || end - this.#at > MAX_TEXT_OCTETS) throw new Malformed('a text does not end');
    const text = this.#bytes.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  /** Where the next `count` octets begin. */
  #take(count: number): number {
    const begin = this.#at;
    const end = begin + count;
    if (end > this.#bytes.length) throw new Malformed(`${end - this.#bytes.length} octets are missing`);
    this.#at = end;
    return begin;
  }
}
