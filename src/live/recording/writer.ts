/** Writes one recording into the spool, in order of the calls. No caller waits; a failed write ends the recording. */
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordingEnd } from '#feed/wire/recording-message.ts';
import { formatPartHead, formatPieceHead, PART_OVERHEAD_BYTES, type PieceHead } from './piece-file.ts';
import { endName, factsFile, INIT_NAME, openPieceName, pieceName, type RecordingSpool, type Spooled } from './spool.ts';

/** Limit of parts that wait for the disk. */
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;

export interface WriterOptions {
  readonly spool: RecordingSpool;
  readonly spooled: Spooled;
  readonly init: Buffer;
  /** Notified when a failure has ended the recording; later parts are dropped. */
  onFailure(end: 'full' | 'slow', error: unknown): void;
}

export class RecordingWriter {
  readonly #options: WriterOptions;
  #file: { readonly handle: FileHandle; readonly n: number } | undefined;
  #queuedBytes = 0;
  /** True once the recording has ended; no more parts are accepted. */
  #isEnded = false;
  /** True once a write has failed; parts that are still queued are dropped. */
  #hasFailed = false;
  #hasPieces = false;
  #running: Promise<void>;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { spooled, init } = options;
    this.#running = Promise.resolve();
    this.#then(async () => {
      await mkdir(spooled.folder, { mode: 0o700 });
      await writeFile(join(spooled.folder, INIT_NAME), init, { mode: 0o600 });
      const { path, text } = factsFile(spooled);
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    });
  }

  beginPiece(n: number, head: PieceHead): void {
    const { spool, spooled } = this.#options;
    const bytes = formatPieceHead(head);
    spooled.nextPiece = n + 1;
    spool.count(spooled, bytes.length);
    this.#then(async () => {
      const handle = await open(join(spooled.folder, openPieceName(n)), 'wx', 0o600);
      this.#file = { handle, n };
      await this.#write(bytes);
    });
  }

  /** Queues a part; its bytes must not change until they are written. */
  write(part: Buffer, durationMs: number): void {
    const { spool, spooled } = this.#options;
    const bytes = part.length + PART_OVERHEAD_BYTES;
    if (this.#isEnded) return;
    if (!spool.hasRoom(spooled.facts.domainId, bytes)) {
      this.#fail('full', new Error('the spool of recordings is full'));
      return;
    }
    if (this.#queuedBytes + bytes > MAX_QUEUED_BYTES) {
      this.#fail('slow', new Error('the disk does not keep up with what is recorded'));
      return;
    }
    this.#queuedBytes += bytes;
    spool.count(spooled, bytes); // at once, since others may be queued before it is written
    this.#then(async () => {
      this.#queuedBytes -= bytes;
      await this.#write(Buffer.concat([formatPartHead(part.length, durationMs), part]));
    });
  }

  endPiece(): void {
    this.#then(() => this.#closePiece());
  }

  /** Ends the recording and its open piece. */
  end(end: RecordingEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#finish(end);
  }

  /** Resolves when all that can be written is written. */
  async settled(): Promise<void> {
    for (let running = this.#running; ; running = this.#running) {
      await running;
      if (running === this.#running) return;
    }
  }

  #fail(end: 'full' | 'slow', error: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#options.onFailure(end, error);
    this.#finish(end);
  }

  /** Ends the files. Complete pieces are sent even after a failure. */
  #finish(end: RecordingEnd): void {
    this.#running = this.#running
      .then(() => this.#close(this.#hasFailed ? 'full' : end))
      .catch((error: unknown) => this.#options.onFailure('full', error));
  }

  async #close(end: RecordingEnd): Promise<void> {
    const { spool, spooled } = this.#options;
    // If this fails, the end is still reported to control unless the process is killed first.
    await writeFile(join(spooled.folder, endName(end)), '', { mode: 0o600 }).catch(() => undefined);
    await this.#closePiece(end).catch(() => undefined); // the next start finds what was written
    if (!this.#hasPieces) await spool.forget(spooled);
    else if (spooled.end === undefined) spool.end(spooled, end);
  }

  #then(work: () => Promise<void>): void {
    this.#running = this.#running
      .then(async () => {
        if (!this.#hasFailed) await work();
      })
      .catch((error: unknown) => {
        this.#hasFailed = true;
        if (this.#isEnded) this.#options.onFailure('full', error);
        else this.#fail('full', error);
      });
  }

  async #write(bytes: Buffer): Promise<void> {
    let at = 0;
    while (at < bytes.length) at += (await this.#file?.handle.write(bytes, at))?.bytesWritten ?? bytes.length;
  }

  /** Completes the open piece. `end` is set with the last one. */
  async #closePiece(end?: RecordingEnd): Promise<void> {
    if (this.#file === undefined) return;
    const { spool, spooled } = this.#options;
    const { handle, n } = this.#file;
    this.#file = undefined;
    const synced = await Promise.allSettled([handle.datasync()]);
    await handle.close();
    await rename(join(spooled.folder, openPieceName(n)), join(spooled.folder, pieceName(n)));
    this.#hasPieces = true;
    spool.addPiece(spooled, n, end);
    for (const one of synced) if (one.status === 'rejected') throw one.reason;
  }
}
