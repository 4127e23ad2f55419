/**
 * Where access-log lines wait on disk until they are shipped: appended in batches behind a bounded queue, never in a
 * request's way. The current file is `<name>.log`; finished ones are `<name>-<time>-<number>.log`.
 */

import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#lib/clock.ts';
import type { LocalTime } from '#lib/local-time.ts';
import type { Logger } from '#lib/logger.ts';

export interface SpoolOptions {
  /** Made when missing, also later. */
  readonly directory: string;
  /** Of lower-case letters, digits and dashes; one writer each. */
  readonly name: string;
  /** Lines beyond it are dropped and counted. */
  readonly maxQueueBytes: number;
  /** A file is finished before it grows beyond this. */
  readonly rotateBytes?: number;
  /** Most finished files kept; the oldest go first. */
  readonly keepFiles: number;
  /** Its full hours, midnight among them, end a file. */
  readonly zone: LocalTime;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface AccessLog extends AsyncDisposable {
  /** Takes one line without its end. Never waits, never throws. */
  write(line: string): void;
  /** Lines lost since the start: queue full, or not writable. */
  dropped(): number;
  /** Resolves when every line taken so far is written or counted as lost. Ends the file if its hour is over. */
  flush(): Promise<void>;
  /** Flushes and closes; lines after it are dropped. */
  close(): Promise<void>;
}

const ROTATE_BYTES = 64 * 1024 * 1024;

/** A batch is written when it is this old or this large. */
const FLUSH_MS = 500;
const BATCH_BYTES = 256 * 1024;

/** Trouble is reported at most this often. */
const REPORT_MS = 60_000;

export function openSpool(options: SpoolOptions): AccessLog {
  return new Spool(options);
}

/** Lines of one local hour. */
interface Batch {
  readonly hour: number;
  readonly lines: string[];
  bytes: number;
}

interface CurrentFile {
  readonly handle: FileHandle;
  readonly inode: number;
  readonly hour: number;
  bytes: number;
}

class Spool implements AccessLog {
  readonly #options: SpoolOptions;
  readonly #path: string;
  readonly #rotateBytes: number;
  readonly #timer: NodeJS.Timeout;
  #batches: Batch[] = [];
  #queuedBytes = 0;
  #dropped = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #file: CurrentFile | undefined;
  #sequence = 0;
  /** The end of all writing so far; never rejects. */
  #tail: Promise<void> = Promise.resolve();
  #isDraining = false;
  #isClosed = false;

  constructor(options: SpoolOptions) {
    if (!/^[a-z0-9-]+$/.test(options.name)) throw new RangeError(`not a spool name: ${options.name}`);
    this.#options = options;
    this.#path = join(options.directory, `${options.name}.log`);
    this.#rotateBytes = options.rotateBytes ?? ROTATE_BYTES;
    this.#timer = setInterval(() => this.#startDrain(), FLUSH_MS);
    this.#timer.unref();
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#isClosed || this.#queuedBytes + bytes > this.#options.maxQueueBytes) {
      this.#lose(1, 'the queue is full');
      return;
    }
    const hour = this.#options.zone.hourOf(this.#options.clock());
    let batch = this.#batches.at(-1);
    if (batch === undefined || batch.hour !== hour || batch.bytes >= BATCH_BYTES) {
      batch = { hour, lines: [], bytes: 0 };
      this.#batches.push(batch);
    }
    batch.lines.push(line);
    batch.bytes += bytes;
    this.#queuedBytes += bytes;
    if (batch.bytes >= BATCH_BYTES) this.#startDrain();
  }

  dropped(): number {
    return this.#dropped;
  }

  flush(): Promise<void> {
    this.#tail = this.#tail.then(() => this.#drain());
    return this.#tail;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.flush();
    try {
      await this.#file?.handle.sync();
    } catch (error) {
      this.#report('the file cannot be synced', error);
    }
    await this.#closeFile();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #startDrain(): void {
    // One drain takes everything there is; a second in the queue would find nothing.
    if (!this.#isDraining) void this.flush(); // never rejects
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    for (let batch = this.#batches.shift(); batch !== undefined; batch = this.#batches.shift()) {
      try {
        await this.#append(batch);
      } catch (error) {
        await this.#abandonFile();
        this.#lose(batch.lines.length, 'the file cannot be written', error);
      }
      this.#queuedBytes -= batch.bytes;
    }
    try {
      const hour = this.#options.zone.hourOf(this.#options.clock());
      if (this.#file !== undefined && this.#file.hour !== hour) await this.#rotate(this.#file);
    } catch (error) {
      this.#report('the file cannot be ended', error);
    }
    this.#isDraining = false;
  }

  async #append(batch: Batch): Promise<void> {
    const file = await this.#fileFor(batch);
    await file.handle.appendFile(`${batch.lines.join('\n')}\n`);
    file.bytes += batch.bytes;
  }

  /** The current file when this batch belongs into it, else a new one. */
  async #fileFor(batch: Batch): Promise<CurrentFile> {
    let file = this.#file;
    if (file !== undefined && !(await this.#isInPlace(file))) {
      await this.#closeFile();
      file = undefined;
    }
    if (file !== undefined && (file.hour !== batch.hour || file.bytes + batch.bytes > this.#rotateBytes)) {
      await this.#rotate(file);
      file = undefined;
    }
    this.#file = file ?? (await this.#openFile(batch.hour));
    return this.#file;
  }

  async #openFile(hour: number): Promise<CurrentFile> {
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
    // What an earlier process left may end in half a line: its own file, then.
    if (((await statOrUndefined(this.#path))?.size ?? 0) > 0) await this.#setAside();
    const handle = await open(this.#path, 'a', 0o600);
    const { ino, size } = await handle.stat();
    return { handle, inode: ino, hour, bytes: size };
  }

  /** A file that was deleted under us still takes bytes, which nobody will ever see. */
  async #isInPlace(file: CurrentFile): Promise<boolean> {
    return (await statOrUndefined(this.#path))?.ino === file.inode;
  }

  async #rotate(file: CurrentFile): Promise<void> {
    this.#file = undefined;
    try {
      await file.handle.sync();
    } finally {
      await file.handle.close();
    }
    if (file.bytes > 0) await this.#setAside();
  }

  /** Renames the current file to a name that sorts after all earlier ones, and removes the oldest beyond the limit. */
  async #setAside(): Promise<void> {
    const { directory, name, keepFiles, clock } = this.#options;
    const stamp = new Date(clock()).toISOString().replace(/[-:.]/g, '');
    let target: string;
    do {
      const number = String(this.#sequence++ % 10_000).padStart(4, '0');
      target = join(directory, `${name}-${stamp}-${number}.log`);
    } while ((await statOrUndefined(target)) !== undefined);
    await rename(this.#path, target);
    try {
      const finished = (await readdir(directory)).filter((file) => isFinished(file, name)).sort();
      for (const file of finished.slice(0, Math.max(0, finished.length - keepFiles))) await rm(join(directory, file));
    } catch (error) {
      this.#report('old files cannot be removed', error); // Writing goes on.
    }
  }

  /** After a failed write: takes back the half-written batch, if the disk lets us, and starts over next time. */
  async #abandonFile(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    try {
      await file.handle.truncate(file.bytes);
    } catch {
      // The next file is a new one, so half a line at this one's end harms no other line.
    }
    await this.#closeFile();
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    try {
      await file?.handle.close();
    } catch (error) {
      this.#report('the file cannot be closed', error);
    }
  }

  #lose(lines: number, why: string, error?: unknown): void {
    this.#dropped += lines;
    this.#report(why, error);
  }

  #report(why: string, error: unknown): void {
    const now = this.#options.clock();
    if (now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    this.#options.log.warn({ err: error, spool: this.#path, droppedLines: this.#dropped }, `access log: ${why}`);
  }
}

function isFinished(file: string, name: string): boolean {
  return file.startsWith(`${name}-`) && /^\d{8}T\d{9}Z-\d{4}\.log$/.test(file.slice(name.length + 1));
}

async function statOrUndefined(path: string) {
  try {
    return await stat(path);
  } catch {
    return undefined; // Missing or out of reach: opening it will say which.
  }
}
