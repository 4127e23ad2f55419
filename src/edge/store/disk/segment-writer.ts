/**
 * Gathers entries into units and appends these to this worker's own segments in the background. Entries are copied and
 * can be read from memory until their unit is in the file.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { writeAll } from './body-file.ts';
import { FILE_BLOCK_BYTES } from './paths.ts';
import { isClosed, type StoreSegment } from './segment.ts';
import { type EntryRow, encodeRow, encodeUnitHeader, TABLE_ROW_BYTES, UNIT_HEADER_BYTES } from './unit.ts';

/** Limit of a unit's header and entries, and so of one entry. */
const UNIT_BYTES = 1024 * 1024;
/** Time after which a unit is written even if it is not full. */
const FLUSH_MS = 100;
/** Limit of units that wait to be written, 64 MiB; entries beyond it are not stored. */
const MAX_UNITS = 64;
/** Buffers kept for reuse. */
const MAX_SPARE = 8;

export interface SegmentWriterOptions {
  /** Size at which a segment ends, the body files of its entries included. */
  readonly segmentBytes: number;
  /**
   * Creates a segment of this worker, whose file is created with its first unit. Returns `undefined` if there are too
   * many.
   */
  readonly openSegment: () => StoreSegment | undefined;
  /** Returns the time of the next unit. */
  readonly nextTime: () => number;
  /** Called if entries could not be written; the segment gets no more. */
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
  /** Bytes of the header and the entries. */
  usedBytes: number;
  readonly rows: EntryRow[];
  isLast: boolean;
  /** Infinity until the unit is sealed. */
  time: number;
  /** Resolved when the unit is in the file, or lost. */
  readonly done: PromiseWithResolvers<void>;
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  readonly #spare: Buffer[] = [];
  /** The segment of the next unit. */
  #segment: StoreSegment | undefined;
  #unit: StagedUnit | undefined;
  /** Sealed units that wait to be written. */
  #queue: StagedUnit[] = [];
  /** Units being written, all of one segment. */
  #writing: readonly StagedUnit[] = [];
  /**
   * Files of the segments that get more units. A file is created with the first unit in memory, so that it is there
   * when that is written: each wait would be one for a turn of a busy event loop.
   */
  readonly #files = new Map<StoreSegment, Promise<FileHandle>>();
  /** The end of all closing so far; never rejects. */
  #closing: Promise<unknown> = Promise.resolve();
  /** The running write loop; never rejects. */
  #pumping: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /**
   * Copies the entry into the current unit; without pieces, records the key's removal. Returns `undefined` if the entry
   * is too large or the disk too slow.
   */
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

  /** Returns a copy of an entry that is not in the file yet; `undefined` if there is none at that offset. */
  read(segment: StoreSegment, offset: number, length: number): Buffer | undefined {
    for (const unit of [this.#unit, ...this.#queue, ...this.#writing]) {
      if (unit === undefined || unit.segment !== segment) continue;
      const at = offset - unit.start;
      if (at >= 0 && at + length <= unit.usedBytes) return Buffer.from(unit.buffer.subarray(at, at + length));
    }
    return undefined;
  }

  /** Resolves when all entries appended so far are in their files, or lost. */
  async flush(): Promise<void> {
    this.seal();
    await (this.#queue.at(-1) ?? this.#writing.at(-1))?.done.promise;
  }

  /** Gives the segment up: its unwritten entries are lost. */
  abandon(segment: StoreSegment): void {
    const units = [...this.#writing, ...this.#queue, ...(this.#unit === undefined ? [] : [this.#unit])];
    const lost = units.filter((unit) => unit.segment === segment);
    this.#queue = this.#queue.filter((unit) => unit.segment !== segment);
    if (this.#unit?.segment === segment) this.#unit = undefined;
    if (this.#segment === segment) this.#segment = undefined;
    this.#closeFile(segment);
    for (const { done } of lost) done.resolve();
    const [first] = lost;
    if (first !== undefined) segment.starts.length = segment.times.length = first.number;
    this.#options.onLost(
      segment,
      lost.flatMap(({ rows }) => rows),
    );
  }

  /** Writes all appended entries, and closes the files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    await this.#pumping;
    for (const segment of this.#files.keys()) this.#closeFile(segment);
    await this.#closing;
  }

  #openUnit(): StagedUnit | undefined {
    if (this.#isClosed || this.#queue.length + this.#writing.length >= MAX_UNITS) return undefined;
    const segment = this.#currentSegment();
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
      done: Promise.withResolvers(),
    };
  }

  /** Begins another segment if there is none. Returns `undefined` if there are too many. */
  #currentSegment(): StoreSegment | undefined {
    const segment = this.#segment;
    if (segment !== undefined && !isClosed(segment, Date.now())) return segment;
    if (segment !== undefined) this.#closeFile(segment);
    this.#segment = this.#options.openSegment();
    if (this.#segment === undefined) return undefined;
    const file = open(this.#segment.path, 'wx', 0o600);
    void file.catch(() => undefined); // `#write` reports it
    this.#files.set(this.#segment, file);
    return this.#segment;
  }

  /**
   * Ends the current unit and queues it. A unit that is sealed later has a later time, also across this worker's
   * writers.
   */
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

  /** Writes all queued units of one segment at once: one unit per write would be one per turn of a busy event loop. */
  async #pump(): Promise<void> {
    for (let [first] = this.#queue; first !== undefined; [first] = this.#queue) {
      const { segment } = first;
      const others = this.#queue.findIndex((unit) => unit.segment !== segment);
      this.#writing = this.#queue.splice(0, others === -1 ? this.#queue.length : others);
      try {
        await this.#write(segment, first.start);
      } catch (error) {
        this.#options.onProblem(error);
        this.abandon(segment);
        if (!segment.isCreated) await rm(segment.path, { force: true }).catch(() => undefined); // it has no whole unit
      }
      for (const { buffer, done } of this.#writing) {
        done.resolve();
        if (this.#spare.length < MAX_SPARE) this.#spare.push(buffer);
      }
      this.#writing = [];
    }
    this.#pumping = undefined;
  }

  async #write(segment: StoreSegment, position: number): Promise<void> {
    const file = await this.#files.get(segment);
    if (file === undefined) return; // given up meanwhile
    await writeAll(file, this.#writing.flatMap(encodeUnit), position);
    segment.isCreated = true;
    const last = this.#writing.at(-1);
    segment.activeAt = last?.time ?? 0;
    if (last?.isLast === true) this.#closeFile(segment);
  }

  /** Closes the file, if it is open, in the background and after its last write. */
  #closeFile(segment: StoreSegment): void {
    const file = this.#files.get(segment);
    this.#files.delete(segment);
    const closed = file?.then(
      (handle) => handle.close().catch(this.#options.onProblem),
      () => undefined, // it was not opened
    );
    this.#closing = Promise.all([this.#closing, closed]);
  }
}

/** Returns the unit's bytes: its buffer, with the header filled in, and its table. */
function encodeUnit(unit: StagedUnit): readonly Buffer[] {
  const { segment, start, buffer, usedBytes, rows, isLast, time } = unit;
  const table = Buffer.alloc(rows.length * TABLE_ROW_BYTES);
  for (const [index, row] of rows.entries()) encodeRow(row, table, index * TABLE_ROW_BYTES);
  const header = { entryBytes: usedBytes - UNIT_HEADER_BYTES, rows: rows.length, isLast, time };
  encodeUnitHeader({ segment: segment.name, start }, header, table).copy(buffer);
  return [buffer.subarray(0, usedBytes), table];
}
