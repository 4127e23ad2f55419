/**
 * Spools access-log lines and their counts on disk until they are shipped. Lines are appended in batches through a
 * bounded queue, so that requests never wait. docs/decisions/0033, 0230
 */
import type { Clock } from '#lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import type { LocalTime } from '#lib/local-time.ts';
import type { Logger } from '#lib/logger.ts';
import { type CountedRequest, type Counters, countRequest } from './counters.ts';
import { HitLines } from './hit-line.ts';
import type { AnsweredPart, HitRecord } from './hit-record.ts';
import { reportKilledWriter } from './killed-writer.ts';
import type { AccessRecord } from './line.ts';
import { type LinesSoFar, noteWholeLine, Repetitions, wholeBytes, writeShortLine } from './short-line.ts';
import { type LineBatch, SpoolFiles } from './spool-files.ts';
import { isSpoolName } from './spool-names.ts';
import type { TakenCount } from './taken-count.ts';
import { Tally } from './tally.ts';

export interface SpoolOptions {
  readonly directory: string;
  /** Name of lower-case letters, digits and dashes; one writer each. */
  readonly name: string;
  /**
   * Number in the name of its first file, up to 9,999 (default 0). It distinguishes the files of two spools of one name
   * that begin at the same time.
   */
  readonly firstNumber?: number;
  /** Returns a line without its line end. */
  readonly format: (domainId: number, record: AccessRecord) => string;
  /** Lines beyond it are dropped and counted. */
  readonly maxQueueBytes: number;
  /** A file is finished before it grows beyond this; 64 MiB. */
  readonly rotateBytes?: number;
  /** A file is finished at this age, at most an hour, and at every full hour of the zone. */
  readonly rotateMs?: number;
  /** Finished files beyond it are removed, the oldest first. */
  readonly keepBytes: number;
  /** Spools whose files share `keepBytes`; absent: this one alone. */
  readonly sharing?: readonly string[];
  /** Time zone whose full hours, midnight among them, end a file. */
  readonly zone: LocalTime;
  readonly clock: Clock;
  readonly log: Logger;
  /** Count of accepted requests that survives a kill. */
  readonly taken?: TakenCount | undefined;
}

export interface AccessLog extends AsyncDisposable {
  /** Takes one request; `domainId` is 0 for no domain. Never waits, never throws. */
  write(domainId: number, record: AccessRecord): void;
  /** Takes a hit, whose line is written by `HitLines` or as a short line. */
  writeHit(hit: HitRecord): void;
  /** Counts bytes of a body that an origin sent for a domain. Never waits, never throws. */
  countOrigin(domainId: number, bytes: number): void;
  /**
   * Lines lost since the start because the queue was full or a write failed. Their requests are counted all the same.
   */
  dropped(): number;
  /** Bytes of finished files that were removed before they were shipped. */
  removedBytes(): number;
  /** Resolves when every line taken so far is written or counted as lost. Ends the file if its time is over. */
  flush(): Promise<void>;
  /** Flushes and closes; lines after it are dropped. */
  close(): Promise<void>;
}

const ROTATE_BYTES = 64 * 1024 * 1024;
const LF = 0x0a;

/** Age and size at which a batch is written; small, so that waiting lines leave the processor's cache to others. */
const FLUSH_MS = 500;
const BATCH_BYTES = 1024 * 1024;
/**
 * Limit of the whole lines that a batch stands for, which may be 300 times its bytes; a file has at least one batch.
 */
const BATCH_WHOLE_BYTES = 8 * 1024 * 1024;
/** Limit of a line, longer than any. */
const MAX_LINE_BYTES = 64 * 1024;
/** Largest sum that is still a small integer of the engine. */
const MAX_SMALL_SUM = 2 ** 30;
/** Buffers that are kept for the next batches. */
const MAX_SPARE_BUFFERS = 2;

/** Shortest interval between two reports of errors. */
const REPORT_MS = 60_000;

export function openSpool(options: SpoolOptions): AccessLog {
  return new Spool(options);
}

/** Lines of one minute, so they share one offset from UTC, and each domain has one sum. */
interface SpoolBatch extends LineBatch, LinesSoFar {
  /** Last instant that was found to be of that minute and slot; many lines share it. */
  at: number;
  /** Answers whose short lines are in no sum yet. */
  readonly answers: AnsweredPart[];
}

class Spool implements AccessLog {
  readonly #options: SpoolOptions;
  readonly #hitLines: HitLines;
  readonly #repetitions = new Repetitions();
  readonly #files: SpoolFiles;
  readonly #rotateMs: number;
  readonly #timer: NodeJS.Timeout;
  #batches: SpoolBatch[] = [];
  #batchNumber = 1;
  readonly #spareBuffers: Buffer[] = [];
  /** Sums without a line in a file: lost lines, bytes of origins. */
  readonly #lineless = new Tally();
  #queuedBytes = 0;
  #dropped = 0;
  #removedBytes = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** The end of all writing so far; never rejects. */
  #tail: Promise<void> = Promise.resolve();
  #isDraining = false;
  /** Number of the last batch that has waited long enough, full or not. */
  #dueBatch = 0;
  /** Whether the sums are to be recorded. */
  #isRecordDue = false;
  #isClosed = false;

  constructor(options: SpoolOptions) {
    const { directory, name, keepBytes, sharing, taken, rotateBytes = ROTATE_BYTES, rotateMs = HOUR_MS } = options;
    if (!isSpoolName(name)) throw new RangeError(`not a spool name: ${name}`);
    this.#options = options;
    this.#hitLines = new HitLines(options.zone);
    this.#rotateMs = rotateMs;
    this.#files = new SpoolFiles({
      directory,
      name,
      firstNumber: options.firstNumber,
      rotateBytes,
      keepBytes,
      sharing,
      onRemoved: (bytes) => {
        this.#removedBytes += bytes;
        this.#report('removed finished files that were not shipped: the spool is full');
      },
      taken,
      onEarlier: (unclosed) => reportKilledWriter({ directory, unclosed, taken, flushMs: FLUSH_MS, log: options.log }),
      onTrouble: (why, error) => this.#report(why, error),
    });
    this.#timer = setInterval(() => {
      this.#makeDue();
      this.#startDrain();
    }, FLUSH_MS);
    this.#timer.unref();
  }

  write(domainId: number, record: AccessRecord): void {
    const batch = this.#batchFor(record.endedAt);
    if (batch === undefined) return;
    const { buffer, bytes } = batch;
    const end = bytes + buffer.write(this.#options.format(domainId, record), bytes);
    if (this.#take(batch, domainId, record, end, end + 1 - bytes)) countWhole(batch, domainId, record);
  }

  writeHit(hit: HitRecord): void {
    const batch = this.#batchFor(hit.endedAt);
    if (batch === undefined) return;
    const { buffer, bytes } = batch;
    const { domainId, answered } = hit;
    if (this.#repetitions.isRepeated(batch, hit)) {
      if (this.#take(batch, domainId, hit, writeShortLine(batch, bytes, hit), wholeBytes(hit))) countShort(batch, hit);
      return;
    }
    const end = this.#hitLines.write(buffer, bytes, hit);
    if (!this.#take(batch, domainId, hit, end, end + 1 - bytes)) return;
    settle(answered);
    answered.counters = countWhole(batch, domainId, hit);
    noteWholeLine(batch, end, hit);
  }

  /**
   * Accepts the line that was written after the last one, or discards it and counts only the request (returns false).
   * `whole`: bytes of the whole line that it stands for.
   */
  #take(batch: SpoolBatch, domainId: number, request: CountedRequest, end: number, whole: number): boolean {
    const bytes = end + 1 - batch.bytes;
    if (this.#queuedBytes + bytes > this.#options.maxQueueBytes) {
      countRequest(this.#lineless.of(domainId, batch.minute), request);
      this.#lose(1, 'dropping lines: the queue is full');
      return false;
    }
    batch.buffer[end] = LF;
    batch.bytes += bytes;
    batch.wholeBytes += whole;
    batch.lines++;
    this.#queuedBytes += bytes;
    if (isFull(batch)) this.#startDrain();
    return true;
  }

  /** Returns the batch with room for a line; `undefined` if lines are dropped. */
  #batchFor(at: number): SpoolBatch | undefined {
    if (this.#isClosed) {
      this.#lose(1, 'dropping lines: the spool is closed');
      return undefined;
    }
    const last = this.#batches.at(-1);
    if (last !== undefined && !isFull(last) && (at === last.at || this.#isFor(last, at))) return last;
    const buffer = this.#spareBuffers.pop() ?? Buffer.allocUnsafeSlow(BATCH_BYTES + MAX_LINE_BYTES);
    const batch = {
      slot: this.#slotOf(at),
      minute: Math.floor(at / MINUTE_MS),
      at,
      answers: [],
      number: this.#batchNumber++,
      buffer,
      view: new DataView(buffer.buffer), // which is all of it
      tally: new Tally(),
      bytes: 0,
      lines: 0,
      wholeLines: 0,
      wholeBytes: 0,
    };
    this.#batches.push(batch);
    return batch;
  }

  #isFor(batch: SpoolBatch, at: number): boolean {
    if (batch.minute !== Math.floor(at / MINUTE_MS) || batch.slot !== this.#slotOf(at)) return false;
    batch.at = at;
    return true;
  }

  countOrigin(domainId: number, bytes: number): void {
    if (this.#isClosed) return;
    this.#lineless.of(domainId, Math.floor(this.#options.clock() / MINUTE_MS)).bytesOrigin += bytes;
  }

  dropped(): number {
    return this.#dropped;
  }

  removedBytes(): number {
    return this.#removedBytes;
  }

  flush(): Promise<void> {
    this.#makeDue();
    return this.#drainNext();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.flush();
    try {
      await this.#files.close();
    } catch (error) {
      this.#report('cannot sync the file', error);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the start of the hour of the zone, or part of an hour, that `at` belongs to. */
  #slotOf(at: number): number {
    const hourStart = this.#options.zone.hourStartOf(at);
    return hourStart + Math.floor((at - hourStart) / this.#rotateMs) * this.#rotateMs;
  }

  #makeDue(): void {
    this.#isRecordDue = true;
    this.#dueBatch = this.#batchNumber - 1;
  }

  #startDrain(): void {
    // One drain takes everything that is due; a second one would find nothing.
    if (!this.#isDraining) void this.#drainNext(); // never rejects
  }

  #drainNext(): Promise<void> {
    this.#tail = this.#tail.then(() => this.#drain());
    return this.#tail;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    const { clock } = this.#options;
    await this.#endEarlier();
    await this.#appendDue();
    if (this.#isRecordDue) {
      await this.#record();
      await this.#appendDue();
    }
    try {
      await this.#files.endUnless(this.#slotOf(clock()));
    } catch (error) {
      this.#report('cannot close the file', error);
    }
    this.#isDraining = false;
  }

  async #appendDue(): Promise<void> {
    for (let batch = this.#nextDue(); batch !== undefined; batch = this.#nextDue()) {
      for (const answered of batch.answers) settle(answered);
      try {
        await this.#files.append(batch, this.#options.clock());
      } catch (error) {
        this.#lineless.merge(batch.tally);
        this.#lose(batch.lines, 'dropping lines: cannot write to the file', error);
      }
      this.#queuedBytes -= batch.bytes;
      if (this.#spareBuffers.length < MAX_SPARE_BUFFERS) this.#spareBuffers.push(batch.buffer);
    }
  }

  /** Returns the next due batch, but not the one being filled: many small batches would have few short lines. */
  #nextDue(): SpoolBatch | undefined {
    const [first, second] = this.#batches;
    if (first === undefined) return undefined;
    const isDue = second !== undefined || isFull(first) || first.number <= this.#dueBatch;
    return isDue ? this.#batches.shift() : undefined;
  }

  /** Ends the files of a killed process without waiting for a request, so that they are shipped. */
  async #endEarlier(): Promise<void> {
    try {
      await this.#files.endEarlier();
    } catch {
      // A write meets the same error and reports it.
    }
  }

  async #record(): Promise<void> {
    this.#isRecordDue = false;
    const now = this.#options.clock();
    await this.#files.record(this.#lineless, this.#slotOf(now), now);
  }

  #lose(lines: number, why: string, error?: unknown): void {
    this.#dropped += lines;
    this.#options.taken?.drop(lines);
    this.#report(why, error);
  }

  #report(why: string, error?: unknown): void {
    const now = this.#options.clock();
    if (Math.abs(now - this.#reportedAt) < REPORT_MS) return; // `abs`: the clock may be set back
    this.#reportedAt = now;
    const { log } = this.#options;
    log.warn({ err: error, spool: this.#options.name, droppedLines: this.#dropped }, `access log: ${why}`);
  }
}

function isFull({ bytes, wholeBytes }: SpoolBatch): boolean {
  return bytes >= BATCH_BYTES || wholeBytes >= BATCH_WHOLE_BYTES;
}

/** Counts a request whose whole line has been accepted. */
function countWhole(batch: SpoolBatch, domainId: number, request: CountedRequest): Counters {
  const counters = batch.tally.of(domainId, batch.minute);
  countRequest(counters, request);
  batch.wholeLines++;
  return counters;
}

/** Counts a hit whose short line has been accepted. */
function countShort(batch: SpoolBatch, { answered, requestBytes, responseBytes }: HitRecord): void {
  if (answered.requests++ === 0) batch.answers.push(answered);
  answered.requestBytes += requestBytes;
  answered.responseBytes += responseBytes;
  if (answered.responseBytes > MAX_SMALL_SUM) settle(answered);
}

/** Adds the answer's pending counts to its counters. */
function settle(answered: AnsweredPart): void {
  if (answered.requests === 0) return;
  countRequest(answered.counters, answered, answered.requests);
  answered.requests = 0;
  answered.requestBytes = 0;
  answered.responseBytes = 0;
}
