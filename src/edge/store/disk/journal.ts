/**
 * Which keys the workers stored, used and removed: told to the one that makes room, and to all of them, so that they know what is
 * on disk. A file that all append to; what is lost of it makes the count and the order less exact until the folders are counted
 * again, and costs a fetch of what a worker does not know of. docs/decisions/0071, docs/decisions/0551
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
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

/** How soon the other workers learn of a key that was stored or removed. */
const FLUSH_MS = 20;

export interface DiskRecord {
  /** The `writer` of the worker's `JournalWriter`. */
  readonly writer: number;
  /** `evicted`: removed by the worker that makes room. */
  readonly kind: RecordKind;
  readonly high: number;
  readonly low: number;
  /** Bytes of a stored entry and its bodies' files; 0 in other records. */
  readonly bytes: number;
}

type RecordKind = (typeof KINDS)[number];

/** The kinds; a kind's place is its number in the file. */
const KINDS = ['none', 'stored', 'used', 'removed', 'evicted'] as const;

interface Noted {
  readonly kind: RecordKind;
  readonly bytes: number;
}

const USED: Noted = { kind: 'used', bytes: 0 };
const EVICTED: Noted = { kind: 'evicted', bytes: 0 };

export class JournalWriter {
  readonly #directory: string;
  readonly #onProblem: (error: unknown) => void;
  /** Random. */
  readonly writer = randomBytes(4).readUInt32LE();
  readonly #gathered = new Map<KeyHash, Noted>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(directory: string, onProblem: (error: unknown) => void) {
    this.#directory = directory;
    this.#onProblem = onProblem;
  }

  /** `bytes`: of the entry and its bodies' files; 0: it was removed. */
  noteStored(hash: KeyHash, bytes: number): void {
    this.#note(hash, { kind: bytes === 0 ? 'removed' : 'stored', bytes });
  }

  noteEvicted(hash: KeyHash): void {
    this.#note(hash, EVICTED);
  }

  noteUsed(hash: KeyHash): void {
    if (this.#gathered.size < MAX_GATHERED && !this.#gathered.has(hash)) this.#gathered.set(hash, USED);
  }

  /** Writes down what was gathered until now, behind what a full disk or a killed worker may have left of a record. Rejects when that fails; it is forgotten then. */
  flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#write());
    this.#flushing = flushed.catch(() => undefined); // whoever asked for it is told
    return flushed;
  }

  /** Forgets that it was about to write. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #write(): Promise<void> {
    this.close();
    if (this.#gathered.size === 0) return;
    const records = Buffer.alloc(this.#gathered.size * RECORD_BYTES);
    let at = 0;
    for (const [hash, { kind, bytes }] of this.#gathered) {
      records.write(hash, at, 8, 'hex');
      records.writeUInt32LE(KINDS.indexOf(kind), at + 8);
      records.writeUInt32LE(this.writer, at + 12);
      records.writeDoubleLE(bytes, at + 16);
      at += RECORD_BYTES;
    }
    this.#gathered.clear();
    const file = join(this.#directory, JOURNAL_NAME);
    const size = (await unlessMissing(stat(file)))?.size ?? 0;
    if (size >= MAX_FILE_BYTES) return;
    const filler = Buffer.alloc((RECORD_BYTES - (size % RECORD_BYTES)) % RECORD_BYTES);
    await appendFile(file, Buffer.concat([filler, records]), { mode: 0o600 });
  }

  #note(hash: KeyHash, noted: Noted): void {
    this.#gathered.set(hash, noted);
    this.#timer ??= setTimeout(() => void this.flush().catch(this.#onProblem), FLUSH_MS).unref();
  }
}

export class JournalReader {
  readonly #file: string;
  #position = 0;

  constructor(directory: string) {
    this.#file = join(directory, JOURNAL_NAME);
  }

  /** What was told before is found by counting. The file stays: others have not read all of it yet. */
  async restart(): Promise<void> {
    this.#position = wholeRecords((await unlessMissing(stat(this.#file)))?.size ?? 0);
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
      const buffer = Buffer.alloc(wholeRecords(length));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      return buffer.subarray(0, wholeRecords(bytesRead));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return Buffer.alloc(0);
      throw error;
    }
  }
}

/**
 * Reads along, from the end that the journal has at the beginning, whatever the one reader that consumes it does. Synchronous: a
 * look-up waits for it.
 */
export class JournalFollower {
  readonly #file: string;
  #open: { readonly descriptor: number; readonly inode: number } | undefined;
  #position = 0;

  constructor(directory: string) {
    this.#file = join(directory, JOURNAL_NAME);
    if (statSync(this.#file, { throwIfNoEntry: false }) === undefined) return;
    this.#open = this.#openFile();
    this.#position = wholeRecords(fstatSync(this.#open.descriptor).size);
  }

  /** What was appended since the last call. */
  read(): readonly DiskRecord[] {
    const present = statSync(this.#file, { throwIfNoEntry: false });
    const records: DiskRecord[] = [];
    if (this.#open !== undefined && this.#open.inode !== present?.ino) {
      // Put aside or removed: an open file keeps its end.
      records.push(...this.#readOn(fstatSync(this.#open.descriptor).size));
      this.close();
    }
    if (present === undefined) return records;
    this.#open ??= this.#openFile();
    return records.concat(this.#readOn(present.size));
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.descriptor);
    this.#open = undefined;
    this.#position = 0;
  }

  #openFile() {
    const descriptor = openSync(this.#file, 'r');
    return { descriptor, inode: fstatSync(descriptor).ino };
  }

  #readOn(sizeBytes: number): DiskRecord[] {
    const missing = sizeBytes - this.#position;
    const length = wholeRecords(missing);
    if (this.#open === undefined || length <= 0) return [];
    const bytes = Buffer.allocUnsafe(length);
    const read = readSync(this.#open.descriptor, bytes, 0, length, this.#position);
    const whole = wholeRecords(read);
    this.#position += whole;
    return decodeRecords(bytes.subarray(0, whole));
  }
}

/** The bytes of the whole records among so many. */
function wholeRecords(bytes: number): number {
  return bytes - (bytes % RECORD_BYTES);
}

function decodeRecords(bytes: Buffer): DiskRecord[] {
  const records: DiskRecord[] = [];
  for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
    const kind = KINDS[bytes.readUInt32LE(at + 8)] ?? 'none';
    records.push({
      writer: bytes.readUInt32LE(at + 12),
      kind,
      high: bytes.readUInt32BE(at),
      low: bytes.readUInt32BE(at + 4),
      bytes: bytes.readDoubleLE(at + 16),
    });
  }
  return records;
}
