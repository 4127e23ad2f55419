/**
 * A codec for protocols of fixed fields, such as those of the carriers in China: tables say what each PDU has. It reads
 * leniently: a field for which the PDU is too short is 0, empty or cut, and surplus octets are left over.
 */
import { OctetReader } from './octet-reader.ts';
import { OctetWriter } from './octet-writer.ts';

/**
 * `text`: Latin-1, filled with NULs. `hex`: octets as hexadecimal digits; empty: zeros. `list`: an octet with the
 * count, then that many texts. `content`: its length, then that many octets.
 */
export type FixedField =
  | { readonly kind: 'none' | 'u8' | 'u32' }
  | { readonly kind: 'text' | 'hex' | 'list'; readonly octets: number }
  | { readonly kind: 'content'; readonly length: 'u8' | 'u32' };
export type FixedLayout = Readonly<Record<string, FixedField>>;
/** Command → its number and fields, in the order of the wire. */
export type Table = Readonly<Record<string, { readonly id: number; readonly fields: FixedLayout }>>;

type Value = number | string | readonly string[] | Buffer;

type ValueOf<F> = F extends { readonly kind: 'text' | 'hex' }
  ? string
  : F extends { readonly kind: 'list' }
    ? readonly string[]
    : F extends { readonly kind: 'content' }
      ? Buffer
      : number;
export type FieldsOf<L> = { readonly [K in keyof L]: ValueOf<L[K]> };

export const u8 = { kind: 'u8' } as const;
export const u32 = { kind: 'u32' } as const;
/** A field that this version of the protocol does not have; 0. */
export const none = { kind: 'none' } as const;
export const fixedText = (octets: number) => ({ kind: 'text', octets }) as const;
export const hex = (octets: number) => ({ kind: 'hex', octets }) as const;
export const list = (octets: number) => ({ kind: 'list', octets }) as const;
export const content = (length: 'u8' | 'u32') => ({ kind: 'content', length }) as const;

/** Sequence of a request: a number, or hexadecimal digits where it is longer. */
type SequenceField = typeof u32 | ReturnType<typeof hex>;

export interface PacketOf<T extends Table, S, C extends keyof T> {
  readonly command: C;
  readonly sequence: ValueOf<S>;
  readonly fields: FieldsOf<T[C]['fields']>;
  /** Name of the first field that is not whole. A content that is cut is whole: its length is wrong. */
  readonly missing: string | undefined;
  /** Octets after the fields. */
  readonly rest: Buffer;
}

/** A command that the table lacks. */
interface UnknownPacket<S> {
  readonly command: 'unknown';
  readonly id: number;
  readonly sequence: ValueOf<S>;
}

export type Packet<T extends Table, S> = { readonly [C in keyof T]: PacketOf<T, S, C> }[keyof T] | UnknownPacket<S>;

/** A packet to be written. */
export type OutgoingPacket<T extends Table, S, C extends keyof T> = Pick<
  PacketOf<T, S, C>,
  'command' | 'sequence' | 'fields'
> & {
  /** Octets after the fields. */
  readonly rest?: Buffer;
};

/** Reads and writes whole PDUs: a header of length, command and sequence, then the fields of the command. */
export class FixedCodec<T extends Table, S extends SequenceField> {
  readonly table: T;
  readonly #sequence: S;
  readonly #commands: ReadonlyMap<number, string>;

  constructor(table: T, sequence: S) {
    this.table = table;
    this.#sequence = sequence;
    this.#commands = new Map(Object.entries(table).map(([command, { id }]) => [id, command]));
  }

  /** Throws a RangeError if a value does not fit its field. */
  encode<C extends keyof T & string>({ command, sequence, fields, rest }: OutgoingPacket<T, S, C>): Buffer {
    // `as`: the command is a key of the table.
    const { id, fields: layout } = this.table[command] as Table[string];
    const writer = new OctetWriter();
    writer.u32(0);
    writer.u32(id);
    writeField(writer, 'sequence', this.#sequence, sequence);
    writeFields(writer, layout, fields);
    if (rest !== undefined) writer.octets(rest);
    return writer.finish();
  }

  /** Reads a frame that has its whole header. */
  decode(frame: Buffer): Packet<T, S> {
    const reader = new OctetReader(frame, LENGTH_OCTETS);
    const id = reader.u32();
    const sequence = readField(reader, this.#sequence);
    const command = this.#commands.get(id);
    // `as`, here and below: the values were read by the layout that their type is derived from.
    if (command === undefined) return { command: 'unknown', id, sequence } as UnknownPacket<S>;
    const { fields, missing } = readFields(reader, (this.table[command] as Table[string]).fields);
    return { command, sequence, fields, missing, rest: reader.rest() } as unknown as Packet<T, S>;
  }
}

const LENGTH_OCTETS = 4;

/** Reads the fields of a layout; see `PacketOf` for `missing`. */
export function readFields<const L extends FixedLayout>(
  reader: OctetReader,
  layout: L,
): { readonly fields: FieldsOf<L>; readonly missing: string | undefined } {
  const fields: Record<string, Value> = {};
  let missing: string | undefined;
  for (const name in layout) {
    const field: FixedField = layout[name] ?? none;
    if (missing === undefined && reader.left < leastOctets(field)) missing = name;
    fields[name] = readField(reader, field);
  }
  return { fields: fields as FieldsOf<L>, missing };
}

/** Octets of a field; of a list or a content, those of its length. */
function leastOctets(field: FixedField): number {
  switch (field.kind) {
    case 'text':
    case 'hex':
      return field.octets;
    case 'list':
      return 1;
    case 'content':
      return NUMBER_OCTETS[field.length];
    default:
      return NUMBER_OCTETS[field.kind];
  }
}

const NUMBER_OCTETS = { none: 0, u8: 1, u32: 4 } as const;

function readField(reader: OctetReader, field: FixedField): Value {
  switch (field.kind) {
    case 'none':
      return 0;
    case 'u8':
      return reader.u8();
    case 'u32':
      return reader.u32();
    case 'text':
      return reader.fixedText(field.octets);
    case 'hex':
      return reader.hex(field.octets);
    case 'list':
      return readList(reader, field.octets);
    case 'content':
      return reader.octets(field.length === 'u8' ? reader.u8() : reader.u32());
  }
}

function readList(reader: OctetReader, octets: number): readonly string[] {
  const texts: string[] = [];
  for (let left = reader.u8(); left > 0 && !reader.isAtEnd; left -= 1) texts.push(reader.fixedText(octets));
  return texts;
}

function writeFields(writer: OctetWriter, layout: FixedLayout, values: Readonly<Record<string, unknown>>): void {
  for (const name in layout) writeField(writer, name, layout[name] ?? none, values[name]);
}

function writeField(writer: OctetWriter, name: string, field: FixedField, value: unknown): void {
  if (field.kind === 'none') return;
  if (field.kind === 'u8' && typeof value === 'number') writer.u8(name, value);
  else if (field.kind === 'u32' && typeof value === 'number') writer.u32(value);
  else if (field.kind === 'text' && typeof value === 'string') writer.fixedText(name, value, field.octets);
  else if (field.kind === 'hex' && typeof value === 'string') writer.hex(name, value, field.octets);
  else if (field.kind === 'list' && Array.isArray(value)) writeList(writer, name, field.octets, value);
  else if (field.kind === 'content' && Buffer.isBuffer(value)) {
    if (field.length === 'u8') writer.u8(name, value.length);
    else writer.u32(value.length);
    writer.octets(value);
  } else throw new RangeError(`${name}: not a value of this field`);
}

function writeList(writer: OctetWriter, name: string, octets: number, texts: readonly string[]): void {
  writer.u8(name, texts.length);
  for (const it of texts) writer.fixedText(name, it, octets);
}
