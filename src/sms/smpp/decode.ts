/** Decodes a PDU leniently: malformed content does not affect the next PDU. */
import { OctetReader } from '../wire/octet-reader.ts';
import {
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
import { TAGS } from './tlvs.ts';

export const HEADER_OCTETS = 16;

export type DecodedPdu =
  /** `missing`: the PDU ends before this mandatory field; it and all later ones are empty or 0. */
  | { readonly kind: 'pdu'; readonly pdu: Pdu; readonly missing?: string }
  /** Not a command of SMPP 3.4. */
  | { readonly kind: 'unknown'; readonly id: number; readonly sequence: number };

/**
 * Decodes a frame whose first field is its length. Its content is read as far as possible: a length beyond its end is
 * cut to the end, and surplus octets are ignored. docs/decisions/0420
 */
export function decodePdu(frame: Buffer): DecodedPdu {
  const id = frame.readUInt32BE(4);
  const sequence = frame.readUInt32BE(12);
  const command = commandOf(id);
  if (command === undefined) return { kind: 'unknown', id, sequence };
  const { id: number, fields: layout } = LAYOUTS[command];
  const reader = new OctetReader(frame, HEADER_OCTETS);
  // SMPP 3.4 §4.4.2: an error response has no body. Some carriers omit the body of other responses, too.
  const isBare = number >= RESPONSE_BIT && reader.isAtEnd;
  const { values, missing } = readFields(reader, layout);
  const tlvs = readTlvs(reader.rest());
  const status = frame.readUInt32BE(8);
  // `as`: the fields were read by the layout of this command.
  const pdu = { command, status, sequence, fields: values, tlvs } as unknown as Pdu;
  return { kind: 'pdu', pdu, ...(missing !== undefined && !isBare && { missing }) };
}

interface ReadFields {
  readonly values: Group;
  readonly missing: string | undefined;
}

function readFields(reader: OctetReader, layout: Layout): ReadFields {
  const values: Record<string, Value> = {};
  let missing: string | undefined;
  for (const name in layout) {
    if (reader.isAtEnd) missing ??= name;
    values[name] = readField(reader, layout[name]);
  }
  return { values, missing };
}

function readField(reader: OctetReader, field: Field | undefined): Value {
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

/** Reads groups up to the end of the PDU or the first group of an unknown kind, whose length is unknown. */
function readGroups(reader: OctetReader, groups: Groups): readonly Group[] {
  const read: Group[] = [];
  for (let left = reader.u8(); left > 0 && !reader.isAtEnd; left -= 1) {
    const flag = 'tagged' in groups ? reader.u8() : undefined;
    const layout = 'tagged' in groups ? groups.tagged[flag ?? 0] : groups.group;
    if (layout === undefined) {
      reader.rest();
      break;
    }
    const { values } = readFields(reader, layout);
    read.push(flag === undefined ? values : { flag, ...values });
  }
  return read;
}

/** Some carriers append a few surplus octets to the mandatory fields. */
const MAX_SURPLUS = 3;

/**
 * Reads optional parameters; truncated ones are dropped. Surplus octets are skipped if the rest are then parameters of
 * the standard.
 */
function readTlvs(octets: Buffer): readonly Tlv[] {
  const first = splitTlvs(octets);
  if (first.isWhole || (first.tlvs.length > 0 && first.tlvs.every(isStandard))) return first.tlvs;
  for (let surplus = 1; surplus <= MAX_SURPLUS; surplus += 1) {
    const { tlvs, isWhole } = splitTlvs(octets.subarray(surplus));
    if (isWhole && tlvs.length > 0 && tlvs.every(isStandard)) return tlvs;
  }
  return first.tlvs;
}

const STANDARD_TAGS: ReadonlySet<number> = new Set(Object.values(TAGS));

function isStandard({ tag }: Tlv): boolean {
  return STANDARD_TAGS.has(tag);
}

const TLV_HEADER_OCTETS = 4;

function splitTlvs(octets: Buffer): { readonly tlvs: readonly Tlv[]; readonly isWhole: boolean } {
  const tlvs: Tlv[] = [];
  let at = 0;
  while (octets.length - at >= TLV_HEADER_OCTETS) {
    const begin = at + TLV_HEADER_OCTETS;
    const end = begin + octets.readUInt16BE(at + 2);
    if (end > octets.length) break;
    tlvs.push({ tag: octets.readUInt16BE(at), value: octets.subarray(begin, end) });
    at = end;
  }
  return { tlvs, isWhole: at === octets.length };
}
