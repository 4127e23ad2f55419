/** Values → a PDU's octets. What does not fit a field is our own mistake and throws a RangeError. */
import { HEADER_OCTETS } from './decode.ts';
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

/** Type and length before each optional parameter. */
const TLV_HEAD_OCTETS = 4;

export function encodePdu<C extends Command>({ command, status, sequence, fields, tlvs }: PduOf<C>): Buffer {
  const { id, fields: layout } = LAYOUTS[command];
  const pieces: Buffer[] = [];
  // The layout of the command is what the fields' type is made of.
  writeFields(pieces, layout, fields as Group);
  for (const { tag, value } of tlvs) pieces.push(tlvHead(tag, value.length), value);
  const header = Buffer.allocUnsafe(HEADER_OCTETS);
  header.writeUInt32BE(
    pieces.reduce((sum, { length }) => sum + length, HEADER_OCTETS),
    0,
  );
  header.writeUInt32BE(id, 4);
  header.writeUInt32BE(status, 8);
  header.writeUInt32BE(sequence, 12);
  return Buffer.concat([header, ...pieces]);
}

function writeFields(pieces: Buffer[], layout: Layout, values: Group): void {
  for (const name of Object.keys(layout)) writeField(pieces, name, layout[name], values[name]);
}

function writeField(pieces: Buffer[], name: string, field: Field | undefined, value: Value | undefined): void {
  if (field?.kind === 'text' && typeof value === 'string') pieces.push(encodeText(name, value, field.maxOctets));
  else if (field?.kind === 'octets' && Buffer.isBuffer(value)) pieces.push(u8(name, value.length), value);
  else if (field?.kind === 'groups' && Array.isArray(value)) writeGroups(pieces, name, field, value);
  else if (field?.kind === 'u8' && typeof value === 'number') pieces.push(u8(name, value));
  else if (field?.kind === 'u32' && typeof value === 'number') pieces.push(u32(value));
  else throw new RangeError(`${name}: not a value of this field`);
}

function writeGroups(pieces: Buffer[], name: string, groups: Groups, values: readonly Group[]): void {
  pieces.push(u8(name, values.length));
  for (const value of values) {
    if (!('tagged' in groups)) {
      writeFields(pieces, groups.group, value);
      continue;
    }
    const layout = groups.tagged[Number(value['flag'])];
    if (layout === undefined) throw new RangeError(`${name}: no such kind`);
    pieces.push(u8(name, Number(value['flag'])));
    writeFields(pieces, layout, value);
  }
}

function encodeText(name: string, text: string, maxOctets: number): Buffer {
  if (text.length >= maxOctets) throw new RangeError(`${name}: at most ${maxOctets - 1} octets`);
  if (text.includes('\0') || Buffer.from(text, 'latin1').toString('latin1') !== text)
    throw new RangeError(`${name}: a character that it cannot have`);
  return Buffer.from(`${text}\0`, 'latin1');
}

function u8(name: string, value: number): Buffer {
  if (!Number.isInteger(value) || value < 0 || value > 0xff) throw new RangeError(`${name}: not an octet`);
  return Buffer.of(value);
}

function u32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function tlvHead(tag: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(TLV_HEAD_OCTETS);
  bytes.writeUInt16BE(tag, 0);
  bytes.writeUInt16BE(length, 2);
  return bytes;
}
