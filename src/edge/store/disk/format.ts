/**
 * The formats of entries and body files, both our own. All bytes are verified before use. Pure.
 *
 * An entry (one per key, in a segment: `unit.ts`) has a header of 28 bytes (magic, version, lengths, checksums), the
 * key and the variants' heads as JSON, then the small bodies one after another. A body file (one per larger body) has a
 * header of 32 bytes, then blocks of 256 KiB, each followed by its checksum. Numbers are little-endian. An unknown
 * version reads as absent.
 */
import { crc32 } from 'node:zlib';
import type { Stored } from '#http/stored.ts';
import { decodeHead, type EncodedHead, type EncodeHead } from '../head-codec.ts';

/**
 * Version of segments, entries and body files; other versions are ignored. Must also be raised if `http/vary.ts`
 * changes how it makes keys.
 */
export const FORMAT_VERSION = 2;
const ENTRY_MAGIC = 0x45435743; // "CWCE"
const BODY_MAGIC = 0x42435743; // "CWCB"
const ENTRY_HEADER_BYTES = 28;
export const BODY_HEADER_BYTES = 32;
/** Bytes of a body that are read and verified at once. */
export const BLOCK_BYTES = 256 * 1024;
const CHECKSUM_BYTES = 4;
/** Bytes of a full block and its checksum in the file. */
export const STORED_BLOCK_BYTES = BLOCK_BYTES + CHECKSUM_BYTES;

export interface EntryRecord {
  readonly key: string;
  /** Most recently stored first. */
  readonly variants: readonly VariantRecord[];
}

interface BodyRecord {
  /** 16 hexadecimal digits, unique to the body's file. Meaningless for an inline body, and empty if that is new. */
  readonly bodyId: string;
  readonly bodyBytes: number;
  /** Pieces of an inline body; `undefined` if the body has its own file. */
  readonly inline: readonly Buffer[] | undefined;
}

export interface VariantRecord extends Stored, BodyRecord {}

/** A variant to be written: its head is the very object that the memory tier encodes, so that it is encoded once. */
export interface WrittenVariant extends BodyRecord {
  readonly head: Stored;
}

/** Returns the variant as `encodeEntry` takes it. */
export function asWritten(variant: VariantRecord): WrittenVariant {
  const { bodyId, bodyBytes, inline } = variant;
  return { head: variant, bodyId, bodyBytes, inline };
}

type EncodedVariant = readonly [head: EncodedHead, bodyId: string, bodyBytes: number, isInline: 0 | 1];

/** Returns the entry's pieces, in order. */
export function encodeEntry(
  key: string,
  variants: readonly WrittenVariant[],
  encodeHead: EncodeHead,
): readonly Buffer[] {
  const encoded = variants.map((variant) => encodeVariant(variant, encodeHead));
  const meta = `[${JSON.stringify(key)},[${encoded.join(',')}]]`;
  const bodies: Buffer[] = [];
  for (const { inline = [] } of variants) bodies.push(...inline);
  const beginning = Buffer.allocUnsafe(ENTRY_HEADER_BYTES + Buffer.byteLength(meta));
  beginning.write(meta, ENTRY_HEADER_BYTES);
  beginning.writeUInt32LE(ENTRY_MAGIC, 0);
  beginning.writeUInt32LE(FORMAT_VERSION, 4);
  beginning.writeUInt32LE(beginning.length - ENTRY_HEADER_BYTES, 8);
  beginning.writeUInt32LE(
    bodies.reduce((sum, { length }) => sum + length, 0),
    12,
  );
  beginning.writeUInt32LE(crc32(beginning.subarray(ENTRY_HEADER_BYTES)), 16);
  beginning.writeUInt32LE(
    bodies.reduce((checksum, body) => crc32(body, checksum), 0),
    20,
  );
  beginning.writeUInt32LE(crc32(beginning.subarray(0, 24)), 24);
  return [beginning, ...bodies];
}

/** Returns the JSON text of an `EncodedVariant`. */
function encodeVariant({ head, bodyId, bodyBytes, inline }: WrittenVariant, encodeHead: EncodeHead): string {
  return `[${encodeHead(head)},"${bodyId}",${bodyBytes},${inline === undefined ? 0 : 1}]`;
}

/** Returns `undefined` for anything but a complete, undamaged entry. The bodies are views of `bytes`. */
export function decodeEntry(bytes: Buffer): EntryRecord | undefined {
  if (bytes.length < ENTRY_HEADER_BYTES || bytes.readUInt32LE(24) !== crc32(bytes.subarray(0, 24))) return undefined;
  if (bytes.readUInt32LE(0) !== ENTRY_MAGIC || bytes.readUInt32LE(4) !== FORMAT_VERSION) return undefined;
  const metaEnd = ENTRY_HEADER_BYTES + bytes.readUInt32LE(8);
  const meta = bytes.subarray(ENTRY_HEADER_BYTES, metaEnd);
  const bodies = bytes.subarray(metaEnd);
  if (bodies.length !== bytes.readUInt32LE(12)) return undefined;
  if (crc32(meta) !== bytes.readUInt32LE(16) || crc32(bodies) !== bytes.readUInt32LE(20)) return undefined;
  // Magic, version and checksum prove that `encodeEntry` of this version wrote it.
  const [key, encoded] = JSON.parse(meta.toString()) as [string, readonly EncodedVariant[]];
  let at = 0;
  const variants = encoded.map(([head, bodyId, bodyBytes, isInline]): VariantRecord => {
    const inline = isInline === 1 ? bodies.subarray(at, at + bodyBytes) : undefined;
    if (inline !== undefined) at += bodyBytes;
    return { ...decodeHead(head), bodyId, bodyBytes, inline: inline === undefined ? undefined : [inline] };
  });
  return { key, variants };
}

export function encodeBodyHeader(bodyId: string, sizeBytes: number): Buffer {
  const header = Buffer.alloc(BODY_HEADER_BYTES);
  header.writeUInt32LE(BODY_MAGIC, 0);
  header.writeUInt32LE(FORMAT_VERSION, 4);
  header.write(bodyId, 8, 8, 'hex');
  header.writeDoubleLE(sizeBytes, 16);
  header.writeUInt32LE(crc32(header.subarray(0, 28)), 28);
  return header;
}

/** Whether the header is that of this very body. */
export function isBodyHeader(header: Buffer, bodyId: string, sizeBytes: number): boolean {
  return header.equals(encodeBodyHeader(bodyId, sizeBytes));
}

export function countBlocks(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES);
}

/** Returns the offset of a block in its file. */
export function blockPosition(index: number): number {
  return BODY_HEADER_BYTES + index * STORED_BLOCK_BYTES;
}

export function bodyFileBytes(sizeBytes: number): number {
  return BODY_HEADER_BYTES + sizeBytes + countBlocks(sizeBytes) * CHECKSUM_BYTES;
}

/** Writes the checksum after the block's `usedBytes`, for which it must have room. Returns the bytes to write. */
export function sealBlock(block: Buffer, usedBytes: number, bodyId: string, index: number): Buffer {
  block.writeUInt32LE(blockChecksum(block.subarray(0, usedBytes), bodyId, index), usedBytes);
  return block.subarray(0, usedBytes + CHECKSUM_BYTES);
}

/** Returns the block without its checksum; `undefined` if it is damaged or belongs elsewhere. */
export function openBlock(sealed: Buffer, bodyId: string, index: number): Buffer | undefined {
  if (sealed.length <= CHECKSUM_BYTES) return undefined;
  const block = sealed.subarray(0, sealed.length - CHECKSUM_BYTES);
  return sealed.readUInt32LE(block.length) === blockChecksum(block, bodyId, index) ? block : undefined;
}

/** Covers the body's id and the block's index too, so that a block of another file or place does not pass. */
function blockChecksum(block: Buffer, bodyId: string, index: number): number {
  return crc32(block, crc32(`${bodyId} ${index}`));
}
