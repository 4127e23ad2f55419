/**
 * What the workers tell the one that makes room: which keys they stored, used and removed. A file that all append to; what is
 * lost of it only makes the count and the order less exact until the folders are counted again. docs/decisions/0071
 */
import { appendFile, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, unlessMissing } from '#lib/file-error.ts';
import type { KeyHash } from '../key-hash.ts';
import { JOURNAL_NAME } from './paths.ts';

const RECORD_BYTES = 24;
/** Gathered between two writes; further uses are not told. */
const MAX_GATHERED = 50_000;
/** Read at once. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Consumed files are put aside from here on. */
const ROTATE_BYTES = 16 * 1024 * 1024;
/** Nobody reads it: then it does not grow for ever. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export interface DiskRecord {
  readonly high: number;
  readonly low: number;
  /** Bytes of the entry and its bodies' files; 0: removed; `undefined`: used. */
  readonly bytes: number | undefined;
}

const STORED = 1;
const USED = 2;

export class JournalWriter {
  /** `undefined`: used. */
  readonly #gathered = new Map<KeyHash, number | undefined>();

  noteStored(hash: KeyHash, bytes: number): void {
    this.#gathered.set(hash, bytes);
  }

  noteUsed(hash: KeyHash): void {
    if (this.#gathered.size < MAX_GATHERED && !this.#gathered.has(hash)) this.#gathered.set(hash, undefined);
  }

  /** Writes down what was gathered. Rejects when that fails; it is forgotten then. */
  async flush(directory: string): Promise<void> {
    if (this.#gathered.size === 0) return;
    const records = Buffer.alloc(this.#gathered.size * RECORD_BYTES);
    let at = 0;
    for (const [hash, bytes] of this.#gathered) {
      records.write(hash, at, 8, 'hex');
      records.writeUInt32LE(bytes === undefined ? USED : STORED, at + 8);
      records.writeDoubleLE(bytes ?? 0, at + 16);
      at += RECORD_BYTES;
    }
    this.#gathered.clear();
    const file = join(directory, JOURNAL_NAME);
    const size = (await unlessMissing(stat(file)))?.size ?? 0;
    if (size < MAX_FILE_BYTES) await appendFile(file, records, { mode: 0o600 });
  }
}

export class JournalReader {
  readonly #file: string;
  #position = 0;

  constructor(directory: string) {
    this.#file = join(directory, JOURNAL_NAME);
  }

  /** What was told before is found by counting. */
  async restart(): Promise<void> {
    this.#position = 0;
    await rm(this.#file, { force: true });
  }

  /** What was appended since; a part of it when that is much. */
  async read(): Promise<readonly DiskRecord[]> {
    const bytes = await this.#readFrom(this.#file, this.#position);
    this.#position += bytes.length;
    if (this.#position < ROTATE_BYTES || bytes.length === MAX_READ_BYTES) return decodeRecords(bytes);
    const aside = `${this.#file}.old`;
    await rename(this.#file, aside);
    const rest = await this.#readFrom(aside, this.#position); // appended meanwhile
    await rm(aside, { force: true });
    this.#position = 0;
    return decodeRecords(Buffer.concat([bytes, rest]));
  }

  async #readFrom(file: string, position: number): Promise<Buffer> {
    try {
      await using handle = await open(file, 'r');
      const { size } = await handle.stat();
      const length = Math.min(size - position, MAX_READ_BYTES);
      if (length < RECORD_BYTES) return Buffer.alloc(0);
      const buffer = Buffer.alloc(length - (length % RECORD_BYTES));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      return buffer.subarray(0, bytesRead - (bytesRead % RECORD_BYTES));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return Buffer.alloc(0);
      throw error;
    }
  }
}

function decodeRecords(bytes: Buffer): DiskRecord[] {
  const records: DiskRecord[] = [];
  for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
    const kind = bytes.readUInt32LE(at + 8);
    const stored = kind === STORED ? bytes.readDoubleLE(at + 16) : undefined;
    records.push({ high: bytes.readUInt32BE(at), low: bytes.readUInt32BE(at + 4), bytes: stored });
  }
  return records;
}
