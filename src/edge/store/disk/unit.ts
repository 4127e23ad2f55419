/**
 * The format of a unit, the bytes appended to a segment in one write: a header of 32 bytes (magic, version, lengths,
 * time, checksums), the entries of `format.ts` one after another, and a table of them. Numbers are little-endian. The
 * checksums cover the unit's segment and offset, so that a unit of another segment, or a truncated one, is invalid.
 * Pure.
 */
import { crc32 } from 'node:zlib';
import { FORMAT_VERSION } from './format.ts';

const UNIT_MAGIC = 0x55435743; // "CWCU"
export const UNIT_HEADER_BYTES = 32;
export const TABLE_ROW_BYTES = 20;
/** Bit in the header's row count: no unit follows in this segment. */
const LAST_BIT = 2 ** 31;

/** Place of a unit. */
export interface UnitPlace {
  /** Name of the segment's file. */
  readonly segment: string;
  readonly start: number;
}

export interface UnitHeader {
  /** Total size of the entries. */
  readonly entryBytes: number;
  readonly rows: number;
  /** Whether no unit follows in this segment. */
  readonly isLast: boolean;
  /** Epoch milliseconds, or slightly later, so that later units have a higher time. */
  readonly time: number;
}

/** A row of a unit's table. */
export interface EntryRow {
  readonly high: number;
  readonly low: number;
  /** Offset of the entry in the segment. */
  readonly offset: number;
  /** Size of the entry in bytes; 0 if the key was removed. */
  readonly length: number;
  /** Size of the entry's body files, in units of 4 KiB. */
  readonly fileBlocks: number;
}

export interface Unit extends UnitHeader {
  readonly start: number;
  /** Offset after the table. */
  readonly end: number;
  readonly table: readonly EntryRow[];
}

export function encodeUnitHeader(place: UnitPlace, header: UnitHeader, table: Buffer): Buffer {
  const bytes = Buffer.alloc(UNIT_HEADER_BYTES);
  bytes.writeUInt32LE(UNIT_MAGIC, 0);
  bytes.writeUInt32LE(FORMAT_VERSION, 4);
  bytes.writeUInt32LE(header.entryBytes, 8);
  bytes.writeUInt32LE(header.rows + (header.isLast ? LAST_BIT : 0), 12);
  bytes.writeDoubleLE(header.time, 16);
  bytes.writeUInt32LE(crc32(table), 24);
  bytes.writeUInt32LE(headerChecksum(place, bytes), 28);
  return bytes;
}

export function encodeRow(row: EntryRow, table: Buffer, at: number): void {
  table.writeUInt32LE(row.high, at);
  table.writeUInt32LE(row.low, at + 4);
  table.writeUInt32LE(row.offset, at + 8);
  table.writeUInt32LE(row.length, at + 12);
  table.writeUInt32LE(row.fileBlocks, at + 16);
}

export interface ByteRead {
  readonly position: number;
  readonly length: number;
}

type Reading<T> = Generator<ByteRead, T, Buffer>;

/**
 * Reads the units of a segment from `start` to the first incomplete or invalid one. Yields the byte ranges that it
 * needs and is passed their bytes, fewer at the end of the file.
 */
export function* readUnits(segment: string, start: number, onUnit: (unit: Unit) => void): Reading<void> {
  for (let at: number | undefined = start; at !== undefined; ) at = yield* readUnit({ segment, start: at }, onUnit);
}

/** Reads one unit, like `readUnits`. Returns the offset after it; `undefined` if it is incomplete or invalid. */
export function* readUnit(place: UnitPlace, onUnit: (unit: Unit) => void): Reading<number | undefined> {
  const headerBytes = yield { position: place.start, length: UNIT_HEADER_BYTES };
  const header = decodeHeader(place, headerBytes);
  if (header === undefined) return undefined;
  const position = place.start + UNIT_HEADER_BYTES + header.entryBytes;
  const table = yield { position, length: header.rows * TABLE_ROW_BYTES };
  if (table.length < header.rows * TABLE_ROW_BYTES || crc32(table) !== headerBytes.readUInt32LE(24)) return undefined;
  const end = position + table.length;
  onUnit({ ...header, start: place.start, end, table: decodeTable(table) });
  return end;
}

function decodeHeader(place: UnitPlace, bytes: Buffer): UnitHeader | undefined {
  if (bytes.length < UNIT_HEADER_BYTES || bytes.readUInt32LE(28) !== headerChecksum(place, bytes)) return undefined;
  if (bytes.readUInt32LE(0) !== UNIT_MAGIC || bytes.readUInt32LE(4) !== FORMAT_VERSION) return undefined;
  const rows = bytes.readUInt32LE(12);
  return {
    entryBytes: bytes.readUInt32LE(8),
    rows: rows % LAST_BIT,
    isLast: rows >= LAST_BIT,
    time: bytes.readDoubleLE(16),
  };
}

function decodeTable(bytes: Buffer): EntryRow[] {
  return Array.from({ length: bytes.length / TABLE_ROW_BYTES }, (_, row) => {
    const at = row * TABLE_ROW_BYTES;
    return {
      high: bytes.readUInt32LE(at),
      low: bytes.readUInt32LE(at + 4),
      offset: bytes.readUInt32LE(at + 8),
      length: bytes.readUInt32LE(at + 12),
      fileBlocks: bytes.readUInt32LE(at + 16),
    };
  });
}

function headerChecksum({ segment, start }: UnitPlace, bytes: Buffer): number {
  return crc32(bytes.subarray(0, 28), crc32(`${segment} ${start}`));
}
