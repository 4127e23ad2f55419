/**
 * Counts the requests that a worker has accepted in a small file in shared memory, which survives a kill and is written
 * every few requests. The next worker computes from it how many requests had not reached the disk.
 * docs/decisions/0296
 */
import { closeSync, constants, fstatSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';

export interface TakenCount extends Disposable {
  /** Counts of a process that was killed. */
  readonly left: Taken | undefined;
  /** Lost requests of all killed processes so far. */
  readonly lost: number;
  /** Counts a request whose line is queued. Called for every request; takes 0.01 µs. */
  add(): void;
  /** Subtracts lines that will be in no file; they are counted elsewhere. */
  drop(lines: number): void;
  /** Notes that lines are written to this file from now on. */
  begin(stem: string): void;
  /** Notes that the file has ended with this many lines. */
  end(lines: number): void;
  /** Replaces `left`, whose loss has been determined. */
  settle(lost: number): void;
}

export interface Taken {
  /** Requests whose lines were accepted for files. */
  readonly requests: number;
  /** Requests in files that had ended. */
  readonly ended: number;
  /** Stem of the file that was being written; empty if there was none. */
  readonly stem: string;
  readonly lost: number;
}

/** Requests per write, which takes 0.8 µs. */
const TELL_EVERY = 64;
const TELL_MS = 50;
/** Most requests that a killed process may have accepted after its last write. */
export const MAX_UNTOLD = TELL_EVERY - 1;

/** Folder in shared memory, on every Linux. */
const FOLDER = '/dev/shm';

/** Returns the path for one worker of the service with this data directory. */
export function takenCountPath(dataDir: string, name: string): string {
  const { dev, ino, birthtimeMs } = statSync(dataDir); // another directory may have its number later
  return `${FOLDER}/causeway-${dev}-${ino}-${Math.floor(birthtimeMs)}-${name}`;
}

/** Returns `undefined` if there is no such folder, or the file is another user's. */
export function openTakenCount(path: string): TakenCount | undefined {
  try {
    return new CountInMemory(path);
  } catch {
    return undefined; // the loss of a kill is reported as an upper bound then
  }
}

const LAYOUT = 1;
/** Numbers in the file: layout, requests, ended, lost. */
const NUMBERS = 4;
const STEM_AT = NUMBERS * Float64Array.BYTES_PER_ELEMENT;
const BYTES = 128;

class CountInMemory implements TakenCount {
  readonly left: Taken | undefined;
  readonly #path: string;
  readonly #file: number;
  readonly #bytes = Buffer.alloc(BYTES);
  readonly #numbers = new Float64Array(this.#bytes.buffer, this.#bytes.byteOffset, NUMBERS);
  readonly #timer: NodeJS.Timeout;
  #requests = 0;
  #ended = 0;
  #lost: number;
  #untold = 0;
  #isTelling: boolean;

  constructor(path: string) {
    this.#path = path;
    this.#file = openOwn(path);
    this.left = read(this.#file);
    this.#lost = this.left?.lost ?? 0;
    this.#isTelling = this.left === undefined;
    if (this.#isTelling) this.#write(); // allocates its memory
    this.#timer = setTimeout(() => this.#untold > 0 && this.#tell(), TELL_MS);
    this.#timer.unref();
  }

  get lost(): number {
    return this.#lost;
  }

  add(): void {
    this.#requests++;
    if (++this.#untold === TELL_EVERY) this.#tell();
    else if (this.#untold === 1) this.#timer.refresh(); // no timer wakes an idle worker
  }

  drop(lines: number): void {
    this.#requests -= lines;
    this.#tell();
  }

  begin(stem: string): void {
    this.#bytes.fill(0, STEM_AT);
    this.#bytes.write(stem, STEM_AT);
    this.#tell();
  }

  end(lines: number): void {
    this.#ended += lines;
    this.begin('');
  }

  settle(lost: number): void {
    this.#lost += lost;
    this.#isTelling = true;
    this.#tell();
  }

  #tell(): void {
    this.#untold = 0;
    if (!this.#isTelling) return;
    try {
      this.#write();
    } catch {
      this.#isTelling = false; // not expected, as its memory is allocated; but no request may fail because of it
    }
  }

  #write(): void {
    this.#numbers.set([LAYOUT, this.#requests, this.#ended, this.#lost]);
    writeSync(this.#file, this.#bytes, 0, BYTES, 0);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#isTelling = false;
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }
}

/** Throws unless it is a plain file of this user alone: anyone may create files there. */
function openOwn(path: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const found = fstatSync(file);
  if (found.isFile() && found.uid === process.geteuid?.() && found.nlink === 1 && (found.mode & 0o077) === 0)
    return file;
  closeSync(file);
  throw new Error('it is writable by other users');
}

function read(file: number): Taken | undefined {
  const bytes = Buffer.alloc(BYTES);
  if (readSync(file, bytes, 0, BYTES, 0) < BYTES) return undefined;
  const [layout = 0, requests = 0, ended = 0, lost = 0] = new Float64Array(bytes.buffer, bytes.byteOffset, NUMBERS);
  const stem = bytes.toString('latin1', STEM_AT).replace(/\0+$/, '');
  return layout === LAYOUT ? { requests, ended, lost, stem } : undefined;
}
