/** Encodes a PDU. Throws a RangeError if a value does not fit its field. */
import { OctetWriter } from '../wire/octet-writer.ts';
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
  const writer = new OctetWriter();
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

function writeFields(writer: OctetWriter, layout: Layout, values: Group): void {
  for (const name in layout) writeField(writer, name, layout[name], values[name]);
}

function writeField(writer: OctetWriter, name: string, field: Field | undefined, value: Value | undefined): void {
  if (field?.kind === 'text' && typeof value === 'string') writer.text(name, value, field.maxOctets);
  else if (field?.kind === 'octets' && Buffer.isBuffer(value)) {
    writer.u8(name, value.length);
    writer.octets(value);
  } else if (field?.kind === 'groups' && Array.isArray(value)) writeGroups(writer, name, field, value);
  else if (field?.kind === 'u8' && typeof value === 'number') writer.u8(name, value);
  else if (field?.kind === 'u32' && typeof value === 'number') writer.u32(value);
  else throw new RangeError(`${name}: not a value of this field`);
}

function writeGroups(writer: OctetWriter, name: string, groups: Groups, values: readonly Group[]): void {
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
