/** Encodes a PDU. Throws a RangeError if a value does not fit its field. */
import {
  type Command,
  type Field,
  type Group,
  type Groups,
  LAYOUTS,
  type Layout,
  type PduOf,
  type Value,
} from './layouts.ts';

export function encodePdu<C extends Command>({ command, status, sequence, fields, tlvs }: PduOf<C>): Buffer {
  const { id, fields: layout } = LAYOUTS[command];
  const writer = new Writer();
  for (const value of [0, id, status, sequence]) writer.u32(value);
  // `as`: the type of the fields is derived from this layout.
  writeFields(writer, layout, fields as Group);
  for (const { tag, value } of tlvs) {
    writer.u16(tag);
    writer.u16(value.length);
    writer.octets(value);
  }
  return writer.finish();
}

function writeFields(writer: Writer, layout: Layout, values: Group): void {
  for (const name in layout) writeField(writer, name, layout[name], values[name]);
}

function writeField(writer: Writer, name: string, field: Field | undefined, value: Value | undefined): void {
  if (field?.kind === 'text' && typeof value === 'string') writer.text(name, value, field.maxOctets);
  else if (field?.kind === 'octets' && Buffer.isBuffer(value)) {
    writer.u8(name, value.length);
    writer.octets(value);
  } else if (field?.kind === 'groups' && Array.isArray(value)) writeGroups(writer, name, field, value);
  else if (field?.kind === 'u8' && typeof value === 'number') writer.u8(name, value);
  else if (field?.kind === 'u32' && typeof value === 'number') writer.u32(value);
  else throw new RangeError(`${name}: not a value of this field`);
}

function writeGroups(writer: Writer, name: string, groups: Groups, values: readonly Group[]): void {
  writer.u8(name, values.length);
  for (const value of values) {
    if (!('tagged' in groups)) {
      writeFields(writer, groups.group, value);
      continue;
    }
    const layout = groups.tagged[Number(value['flag'])];
    if (layout === undefined) throw new RangeError(`${name}: no such kind`);
    writer.u8(name, Number(value['flag']));
    writeFields(writer, layout, value);
  }
}

/** Initial size, enough for most PDUs; the buffer grows if needed. */
const USUAL_OCTETS = 256;

class Writer {
  #bytes = Buffer.allocUnsafe(USUAL_OCTETS);
  #end = 0;

  u8(name: string, value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > 0xff) throw new RangeError(`${name}: not an octet`);
    this.#bytes[this.#take(1)] = value;
  }

  u16(value: number): void {
    this.#bytes.writeUInt16BE(value, this.#take(2));
  }

  u32(value: number): void {
    this.#bytes.writeUInt32BE(value, this.#take(4));
  }

  octets(value: Buffer): void {
    this.#bytes.set(value, this.#take(value.length));
  }

  /** Writes Latin-1 with a final NUL. */
  text(name: string, text: string, maxOctets: number): void {
    if (text.length >= maxOctets) throw new RangeError(`${name}: at most ${maxOctets - 1} octets`);
    const begin = this.#take(text.length + 1);
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code === 0 || code > 0xff) throw new RangeError(`${name}: a character that it cannot have`);
      this.#bytes[begin + index] = code;
    }
    this.#bytes[begin + text.length] = 0;
  }

  /** Returns the PDU, which begins with its length. */
  finish(): Buffer {
    this.#bytes.writeUInt32BE(this.#end, 0);
    return this.#bytes.subarray(0, this.#end);
  }

  /** Reserves `count` octets and returns their offset. */
  #take(count: number): number {
    const begin = this.#end;
    this.#end += count;
    if (this.#end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#end, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, begin);
      this.#bytes = larger;
    }
    return begin;
  }
}
