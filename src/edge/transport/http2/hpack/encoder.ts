/**
 * Encodes field sections with the static table only, so that an encoded section is valid on every connection at any
 * time. RFC 7541 §6.1, §6.2.2. Pure.
 */
import { writeInteger } from './integers.ts';
import { STATIC_FIELDS } from './static-table.ts';

/** Encodes a flat list of names and values. Names are in lower case; a character is one byte. */
export function encodeFields(fields: readonly string[]): Buffer {
  let most = 0;
  for (const text of fields) most += text.length + MAX_LENGTH_BYTES;
  const bytes = Buffer.allocUnsafe(most);
  let at = 0;
  for (let i = 0; i < fields.length; i += 2) at = writeField(bytes, at, fields[i] ?? '', fields[i + 1] ?? '');
  return bytes.subarray(0, at);
}

/**
 * Instruction that sets our table's size to 0. It must precede the next section after the client lowers the table size
 * below the default. §4.2
 */
export const NO_TABLE = Buffer.from([0x20]);

/** Size of the longest encoded integer, including the byte with the field's representation. */
const MAX_LENGTH_BYTES = 6;

function writeField(bytes: Buffer, at: number, name: string, value: string): number {
  const whole = name === ':status' ? STATUSES.get(value) : undefined;
  if (whole !== undefined) return writeInteger(bytes, at, whole, 7, 0x80);
  const known = NAMES.get(name);
  const behindIndex = writeInteger(bytes, at, known ?? 0, 4, 0);
  return writeText(bytes, known === undefined ? writeText(bytes, behindIndex, name) : behindIndex, value);
}

function writeText(bytes: Buffer, at: number, text: string): number {
  const start = writeInteger(bytes, at, text.length, 7, 0);
  return start + bytes.write(text, start, 'latin1');
}

const NAMES: ReadonlyMap<string, number> = new Map(
  STATIC_FIELDS.map(([name], index): [string, number] => [name, index + 1]).reverse(),
);
const STATUSES: ReadonlyMap<string, number> = new Map(
  STATIC_FIELDS.flatMap(([name, value], index): [string, number][] => (name === ':status' ? [[value, index + 1]] : [])),
);
