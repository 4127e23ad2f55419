/**
 * Lines of the log on their way to standard error, which may be a full disk, a pipe that nobody reads or a terminal
 * that is held: none of them stops the process. Lines wait in a bounded queue; those that find no place are counted,
 * and the count is told in a line of its own as soon as lines pass again. docs/decisions/0053
 */
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { hasCode } from './file-error.ts';

/** Lines that wait; some seconds of a busy process. */
const MAX_QUEUE_BYTES = 1024 * 1024;
/** A pipe takes this much whole or not at all (PIPE_BUF), so that the lines of several processes do not mix. */
const MAX_WRITE_BYTES = 4096;
const FULL_DELAY_MS = 20;
/** Time for a process's last lines; lines that have not been written by then are lost. */
const LAST_WORDS_MS = 500;

interface Batch {
  readonly bytes: Buffer;
  /** Lines of the queue; 0 for the count of those that were lost. */
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

  /** Writes to `fd` must fail rather than wait. `describeLoss` makes a line of how many were lost since the start. */
  constructor(fd: number, describeLoss: (lines: number) => string) {
    this.#fd = fd;
    this.#describeLoss = describeLoss;
  }

  /** Lines lost since the start. */
  get lostLines(): number {
    return this.#lostLines;
  }

  /** Takes one line with its end, and never waits, fails or throws. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#queuedBytes + bytes.length > MAX_QUEUE_BYTES) {
      this.#lostLines += 1;
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    // After this turn: its lines go together, and the last words before `process.exit` are still here for its handler.
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

  /** The batch under way, else the count of lost lines when there is news, else lines from the queue. */
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
    // What a thread is writing now it finishes, because the process waits for its threads.
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
  if (stat.isFile()) return FD; // a disk is slow at worst, and the others who write to it share the position
  if (stat.isFIFO() || isatty(FD)) {
    try {
      // A description of our own: the flag of the one that came with the process belongs to all who share it.
      return openSync('/dev/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // Another user's, from before the privileges were dropped: as with a socket, which cannot be opened anew.
    }
  }
  // Opening the stream makes the descriptor non-blocking, when it is a pipe or a socket.
  // Once for each stream, however many loggers write to it.
  process.stderr.off('error', ignoreError).on('error', ignoreError);
  return FD;
}

function ignoreError(): void {}
