/**
 * Gathers entries into units and appends these to this worker's own segments. Nothing waits for it: an entry is copied, and found
 * in memory until its unit is in the file.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { writeAll } from './body-file.ts';
import { FILE_BLOCK_BYTES } from './paths.ts';
import { isClosed, type StoreSegment } from './segment.ts';
import { type EntryRow, encodeRow, encodeUnitHeader, TABLE_ROW_BYTES, UNIT_HEADER_BYTES } from './unit.ts';

/** Room of a unit: its header and entries. An entry is no longer than that. */
const UNIT_BYTES = 1024 * 1024;
/** How soon a unit is written that did not become full. */
const FLUSH_MS = 100;
/** Units that wait to be written, 64 MiB; what is put meanwhile is not stored. */
const MAX_UNITS = 64;
/** Buffers kept for the next unit. */
const MAX_SPARE = 8;

export interface SegmentWriterOptions {
  /** A segment with more bytes, those of its entries' body files included, is followed by another. */
  readonly segmentBytes: number;
  /** Makes a segment of this worker; its file comes with its first unit. `undefined`: there are too many. */
  readonly openSegment: () => StoreSegment | undefined;
  /** Returns the time of the next unit. */
  readonly nextTime: () => number;
  /** Called when entries were not written; the segment gets no more. */
  readonly onLost: (segment: StoreSegment, rows: readonly EntryRow[]) => void;
  readonly onProblem: (error: unknown) => void;
}

export interface Staged {
  readonly segment: StoreSegment;
  readonly row: EntryRow;
}

interface StagedUnit {
  readonly segment: StoreSegment;
  readonly start: number;
  /** Index in `segment.times`. */
  readonly number: number;
  readonly buffer: Buffer;
  /** The header included. */
  usedBytes: number;
  readonly rows: EntryRow[];
  isLast: boolean;
  /** Infinity: not sealed yet. */
  time: number;
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  readonly #spare: Buffer[] = [];
  /** The segment that the next unit comes into. */
  #segment: StoreSegment | undefined;
  #unit: StagedUnit | undefined;
  /** Units that are full or due. */
  #queue: StagedUnit[] = [];
  /** Units that are being written, all of one segment. */
  #writing: readonly StagedUnit[] = [];
  #file: { readonly segment: StoreSegment; readonly handle: FileHandle } | undefined;
  /** Writes the queue; never rejects. */
  #pumping: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** Copies the entry. `undefined`: it is too large, or the disk too slow. Without pieces: the key is removed. */
  append(high: number, low: number, pieces: readonly Buffer[], fileBlocks: number): Staged | undefined {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (length > UNIT_BYTES - UNIT_HEADER_BYTES) return undefined;
    if (this.#unit !== undefined && this.#unit.usedBytes + length > UNIT_BYTES) this.seal();
    this.#unit ??= this.#openUnit();
    const unit = this.#unit;
    if (unit === undefined) return undefined;
    const row = { high, low, offset: unit.start + unit.usedBytes, length, fileBlocks };
    for (const piece of pieces) unit.usedBytes += piece.copy(unit.buffer, unit.usedBytes);
    unit.rows.push(row);
    if (unit.usedBytes + unit.rows.length * TABLE_ROW_BYTES >= Math.min(UNIT_BYTES, this.#options.segmentBytes))
      this.seal();
    return { segment: unit.segment, row };
  }

  /** A copy of an entry that is not in the file yet. */
  read(segment: StoreSegment, offset: number, length: number): Buffer | undefined {
    for (const unit of [this.#unit, ...this.#queue, ...this.#writing]) {
      if (unit === undefined || unit.segment !== segment) continue;
      const at = offset - unit.start;
      if (at >= 0 && at + length <= unit.usedBytes) return Buffer.from(unit.buffer.subarray(at, at + length));
    }
    return undefined;
  }

  /** Resolves when what was appended is in its file, or lost. */
  async flush(): Promise<void> {
    this.seal();
    await this.#pumping;
  }

  /** Gives the segment up; entries that were not written are lost. */
  abandon(segment: StoreSegment): void {
    const units = [...this.#writing, ...this.#queue, ...(this.#unit === undefined ? [] : [this.#unit])];
    const lost = units.filter((unit) => unit.segment === segment);
    this.#queue = this.#queue.filter((unit) => unit.segment !== segment);
    if (this.#unit?.segment === segment) this.#unit = undefined;
    if (this.#segment === segment) this.#segment = undefined;
    const [first] = lost;
    if (first !== undefined) segment.starts.length = segment.times.length = first.number;
    this.#options.onLost(
      segment,
      lost.flatMap(({ rows }) => rows),
    );
  }

  /** Writes what was appended, and closes the file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    await this.#closeFile();
  }

  #openUnit(): StagedUnit | undefined {
    if (this.#isClosed || this.#queue.length + this.#writing.length >= MAX_UNITS) return undefined;
    if (this.#segment !== undefined && isClosed(this.#segment, Date.now())) this.#segment = undefined;
    this.#segment ??= this.#options.openSegment();
    const segment = this.#segment;
    if (segment === undefined) return undefined;
    this.#timer ??= setTimeout(() => this.seal(), FLUSH_MS).unref();
    const number = segment.starts.push(segment.end) - 1;
    segment.times.push(Number.POSITIVE_INFINITY);
    const buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(UNIT_BYTES);
    return {
      segment,
      start: segment.end,
      number,
      buffer,
      usedBytes: UNIT_HEADER_BYTES,
      rows: [],
      isLast: false,
      time: Number.POSITIVE_INFINITY,
    };
  }

  /** Closes the unit that entries are appended to. Of two units, of any writer, the one that is sealed later has the later time. */
  seal(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const unit = this.#unit;
    this.#unit = undefined;
    if (unit === undefined) return;
    const { segment } = unit;
    segment.end = unit.start + unit.usedBytes + unit.rows.length * TABLE_ROW_BYTES;
    unit.isLast = segment.end + segment.fileBlocks * FILE_BLOCK_BYTES >= this.#options.segmentBytes;
    if (unit.isLast) this.#segment = undefined;
    unit.time = this.#options.nextTime();
    segment.times[unit.number] = unit.time;
    this.#queue.push(unit);
    this.#pumping ??= this.#pump();
  }

  /** All that waits goes out in one write: one unit at a time would be one for each turn of a busy event loop. */
  async #pump(): Promise<void> {
    for (let [first] = this.#queue; first !== undefined; [first] = this.#queue) {
      const { segment } = first;
      const others = this.#queue.findIndex((unit) => unit.segment !== segment);
      this.#writing = this.#queue.splice(0, others === -1 ? this.#queue.length : others);
      try {
        await this.#write(segment, first.start);
      } catch (error) {
        this.#options.onProblem(error);
        await this.#closeFile();
        this.abandon(segment);
        if (!segment.isCreated) await rm(segment.path, { force: true }).catch(() => undefined); // empty
      }
      for (const { buffer } of this.#writing) if (this.#spare.length < MAX_SPARE) this.#spare.push(buffer);
      this.#writing = [];
    }
    this.#pumping = undefined;
  }

  async #write(segment: StoreSegment, position: number): Promise<void> {
    if (this.#file?.segment !== segment) {
      await this.#closeFile();
      this.#file = { segment, handle: await open(segment.path, 'wx', 0o600) };
    }
    await writeAll(this.#file.handle, this.#writing.flatMap(encodeUnit), position);
    segment.isCreated = true;
    const last = this.#writing.at(-1);
    segment.activeAt = last?.time ?? 0;
    if (last?.isLast === true) await this.#closeFile();
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close().catch(this.#options.onProblem);
  }
}

/** The unit's bytes: its buffer, whose header is written now, and its table. */
function encodeUnit(unit: StagedUnit): readonly Buffer[] {
  const { segment, start, buffer, usedBytes, rows, isLast, time } = unit;
  const table = Buffer.alloc(rows.length * TABLE_ROW_BYTES);
  for (const [index, row] of rows.entries()) encodeRow(row, table, index * TABLE_ROW_BYTES);
  const header = { entryBytes: usedBytes - UNIT_HEADER_BYTES, rows: rows.length, isLast, time };
  encodeUnitHeader({ segment: segment.name, start }, header, table).copy(buffer);
  return [buffer.subarray(0, usedBytes), table];
}
