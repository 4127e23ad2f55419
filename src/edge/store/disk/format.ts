/**
 * The bytes of the two kinds of files, both of our own making and both checked before anything in them is believed. Pure.
 *
 * Entry file (one per key): 28 bytes of header (magic, version, lengths, checksums), the key and the variants' heads as JSON, then
 * the small bodies one after another. Body file (one per larger body): 32 bytes of header, then blocks of 256 KiB, each
 * followed by its checksum. Numbers are little-endian. An unknown version reads as "no such file".
 */
import { crc32 } from 'node:zlib';
import type { Stored } from '#http/stored.ts';
import { decodeHead, type EncodedHead, encodeHead } from '../head-codec.ts';

/**
 * Version of both kinds of files, and of the heads in them. Files of another version are foreign. A change of how
 * `http/vary.ts` makes keys raises it.
 */
const FORMAT_VERSION = 1;
const ENTRY_MAGIC = 0x45435743; // "CWCE"
const BODY_MAGIC = 0x42435743; // "CWCB"
const ENTRY_HEADER_BYTES = 28;
export const BODY_HEADER_BYTES = 32;
/** Bytes of a body that are read and checked at once. */
export const BLOCK_BYTES = 256 * 1024;
const CHECKSUM_BYTES = 4;
/** Bytes in the file: the block and its checksum. */
export const STORED_BLOCK_BYTES = BLOCK_BYTES + CHECKSUM_BYTES;

export interface EntryRecord {
  readonly key: string;
  /** Most recently stored first. */
  readonly variants: readonly VariantRecord[];
}

export interface VariantRecord extends Stored {
  /** 16 hexadecimal digits, never the same for two files of bodies; of no meaning for an inline body, and empty where it is new. */
  readonly bodyId: string;
  readonly bodyBytes: number;
  /** The body itself; `undefined`: it has a file of its own. */
  readonly inline: Buffer | undefined;
}

type EncodedVariant = readonly [head: EncodedHead, bodyId: string, bodyBytes: number, isInline: 0 | 1];

export function encodeEntry({ key, variants }: EntryRecord): Buffer {
  const encoded = variants.map((variant): EncodedVariant => {
    return [encodeHead(variant), variant.bodyId, variant.bodyBytes, variant.inline === undefined ? 0 : 1];
  });
  const meta = Buffer.from(JSON.stringify([key, encoded]));
  const bodies = Buffer.concat(variants.flatMap(({ inline }) => inline ?? []));
  const header = Buffer.alloc(ENTRY_HEADER_BYTES);
  header.writeUInt32LE(ENTRY_MAGIC, 0);
  header.writeUInt32LE(FORMAT_VERSION, 4);
  header.writeUInt32LE(meta.length, 8);
  header.writeUInt32LE(bodies.length, 12);
  header.writeUInt32LE(crc32(meta), 16);
  header.writeUInt32LE(crc32(bodies), 20);
  header.writeUInt32LE(crc32(header.subarray(0, 24)), 24);
  return Buffer.concat([header, meta, bodies]);
}

/** `undefined` for anything but a whole file that `encodeEntry` made. The bodies are views of `file`. */
export function decodeEntry(file: Buffer): EntryRecord | undefined {
  if (file.length < ENTRY_HEADER_BYTES || file.readUInt32LE(24) !== crc32(file.subarray(0, 24))) return undefined;
  if (file.readUInt32LE(0) !== ENTRY_MAGIC || file.readUInt32LE(4) !== FORMAT_VERSION) return undefined;
  const metaEnd = ENTRY_HEADER_BYTES + file.readUInt32LE(8);
  const meta = file.subarray(ENTRY_HEADER_BYTES, metaEnd);
  const bodies = file.subarray(metaEnd);
  if (bodies.length !== file.readUInt32LE(12)) return undefined;
  if (crc32(meta) !== file.readUInt32LE(16) || crc32(bodies) !== file.readUInt32LE(20)) return undefined;
  // Magic, version and checksum say that `encodeEntry` of this version wrote it.
  const [key, encoded] = JSON.parse(meta.toString()) as [string, readonly EncodedVariant[]];
  let at = 0;
  const variants = encoded.map(([head, bodyId, bodyBytes, isInline]): VariantRecord => {
    const inline = isInline === 1 ? bodies.subarray(at, at + bodyBytes) : undefined;
    at += inline?.length ?? 0;
    return { ...decodeHead(head), bodyId, bodyBytes, inline };
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

/** Whether it is the header of this very body. */
export function isBodyHeader(header: Buffer, bodyId: string, sizeBytes: number): boolean {
  return header.equals(encodeBodyHeader(bodyId, sizeBytes));
}

export function countBlocks(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES);
}

/** Where a block begins in its file. */
export function blockPosition(index: number): number {
  return BODY_HEADER_BYTES + index * STORED_BLOCK_BYTES;
}

export function bodyFileBytes(sizeBytes: number): number {
  return BODY_HEADER_BYTES + sizeBytes + countBlocks(sizeBytes) * CHECKSUM_BYTES;
}

/** `block` has room for the checksum behind its `usedBytes`; gives what is to be written. */
export function sealBlock(block: Buffer, usedBytes: number, bodyId: string, index: number): Buffer {
  block.writeUInt32LE(blockChecksum(block.subarray(0, usedBytes), bodyId, index), usedBytes);
  return block.subarray(0, usedBytes + CHECKSUM_BYTES);
}

/** The block without its checksum; `undefined` when it is not what was written there. */
export function openBlock(sealed: Buffer, bodyId: string, index: number): Buffer | undefined {
  if (sealed.length <= CHECKSUM_BYTES) return undefined;
  const block = sealed.subarray(0, sealed.length - CHECKSUM_BYTES);
  return sealed.readUInt32LE(block.length) === blockChecksum(block, bodyId, index) ? block : undefined;
}

/** Belongs to this place in this body: a block of another file does not pass. */
function blockChecksum(block: Buffer, bodyId: string, index: number): number {
  return crc32(block, crc32(`${bodyId} ${index}`));
}
