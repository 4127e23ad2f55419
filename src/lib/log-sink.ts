/**
 * Writes log lines to standard error without ever blocking the process, even if that is a full disk, a pipe without a
 * reader, or a stopped terminal. Lines wait in a bounded queue. Lines that do not fit are counted, and the count is
 * logged as soon as lines can be written again. docs/decisions/0053
 */
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { hasCode } from './file-error.ts';

/** Limit of the queue: some seconds of a busy process. */
const MAX_QUEUE_BYTES = 1024 * 1024;
/** Writes of at most this size to a pipe are atomic (PIPE_BUF), so that the lines of several processes do not mix. */
const MAX_WRITE_BYTES = 4096;
const FULL_DELAY_MS = 20;
/** Time for the last lines of an ending process; later lines are lost. */
const LAST_WORDS_MS = 500;

interface Batch {
  readonly bytes: Buffer;
  /** Lines of the queue in the batch; 0 for a report of lost lines. */
  readonly lines: number;
  /** Total of lost lines that is reported once this is written. */
  readonly told: number;
  written: number;
}

export class LogSink {
  readonly #fd: number;
  readonly #describeLoss: (lines: number) => string;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #batch: Batch | undefined;
  #state: 'idle' | 'scheduled' | 'writing' = 'idle';
  #lostLines = 0;
  #toldLines = 0;
  #passes = false;
  #isTorn = false;
  #hasExitHandler = false;

  /**
   * Writes to `fd` must fail instead of blocking. `describeLoss` formats a line from the number of lines lost since the
   * start.
   */
  constructor(fd: number, describeLoss: (lines: number) => string) {
    this.#fd = fd;
    this.#describeLoss = describeLoss;
  }

  /** Lines lost since the start. */
  get lostLines(): number {
    return this.#lostLines;
  }

  /** Queues a line, which includes its line end. Never blocks or throws. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#queuedBytes + bytes.length > MAX_QUEUE_BYTES) {
      this.#lostLines += 1;
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    // Deferred to the end of the turn: its lines are written together, and the last lines before `process.exit` are
    // left to the exit handler.
    if (this.#state === 'idle') this.#schedule(() => setImmediate(() => this.#writeNext()));
    if (this.#hasExitHandler) return;
    this.#hasExitHandler = true;
    process.once('exit', () => this.#writeLastWords());
  }

  #schedule(later: () => void): void {
    this.#state = 'scheduled';
    later();
  }

  #writeNext(): void {
    const batch = this.#takeBatch();
    this.#state = batch === undefined ? 'idle' : 'writing';
    if (batch === undefined) return;
    write(this.#fd, batch.bytes, batch.written, (error, bytes) => {
      if (hasCode(error, 'EAGAIN'))
        return this.#schedule(() => setTimeout(() => this.#writeNext(), FULL_DELAY_MS).unref());
      this.#settle(batch, error ?? undefined, bytes);
      this.#writeNext();
    });
  }

  /**
   * Returns the batch in flight; otherwise a report of newly lost lines, if lines can be written again; otherwise lines
   * of the queue.
   */
  #takeBatch(): Batch | undefined {
    if (this.#batch !== undefined) return this.#batch;
    const news = this.#passes && this.#lostLines > this.#toldLines;
    const taken = news ? [Buffer.from(this.#describeLoss(this.#lostLines))] : this.#takeLines();
    if (taken.length === 0) return undefined;
    const bytes = Buffer.concat(this.#isTorn ? [Buffer.from('\n'), ...taken] : taken);
    const lines = news ? 0 : taken.length;
    this.#batch = { bytes, lines, told: news ? this.#lostLines : this.#toldLines, written: 0 };
    return this.#batch;
  }

  #takeLines(): Buffer[] {
    let count = 0;
    let bytes = 0;
    for (const line of this.#queue) {
      if (count > 0 && bytes + line.length > MAX_WRITE_BYTES) break;
      bytes += line.length;
      count += 1;
    }
    this.#queuedBytes -= bytes;
    return this.#queue.splice(0, count);
  }

  #settle(batch: Batch, error: Error | undefined, bytes: number): void {
    if (error === undefined) batch.written += bytes;
    if (error === undefined && batch.written < batch.bytes.length) return;
    this.#batch = undefined;
    this.#passes = error === undefined;
    if (error === undefined) {
      this.#isTorn = false;
      this.#toldLines = batch.told;
    } else {
      this.#isTorn ||= batch.written > 0;
      this.#lostLines += batch.lines;
    }
  }

  #writeLastWords(): void {
    // A write that a thread has begun is finished, because the process waits for its threads.
    if (this.#state === 'writing') this.#batch = undefined;
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    const deadline = performance.now() + LAST_WORDS_MS;
    for (let batch = this.#takeBatch(); batch !== undefined; batch = this.#takeBatch()) {
      try {
        this.#settle(batch, undefined, writeSync(this.#fd, batch.bytes, batch.written));
      } catch (error) {
        if (!hasCode(error, 'EAGAIN'))
          this.#settle(batch, error instanceof Error ? error : new Error(String(error)), 0);
        else if (performance.now() > deadline) return;
        else Atomics.wait(sleeper, 0, 0, FULL_DELAY_MS);
      }
    }
  }
}

/** Returns a descriptor for standard error on which a write that would block fails with EAGAIN. */
export function openStandardError(): number {
  const FD = 2;
  const stat = fstatSync(FD);
  if (stat.isFile()) return FD; // a disk is slow at worst, and other writers share the file position
  if (stat.isFIFO() || isatty(FD)) {
    try {
      // Opens a file description of our own: the flag of the inherited one affects all processes that share it.
      return openSync('/dev/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // It belongs to another user, since privileges were dropped, or is a socket, which cannot be reopened.
    }
  }
  // Accessing the stream makes the descriptor of a pipe or socket non-blocking. The listener is added once per stream,
  // however many loggers write to it.
  process.stderr.off('error', ignoreError).on('error', ignoreError);
  return FD;
}

function ignoreError(): void {}
