/**
 * A body on its way from a fast end to a slow one: kept in memory, and from some size on in a file, each within its bounds.
 * One writes it and one reads it; what was read may be dropped or kept to be read again. docs/decisions/0441
 */
import type { FileHandle } from 'node:fs/promises';
import type { StockOwner } from '../stock.ts';
import type { BufferBudget } from './budget.ts';
import { BufferPieces } from './pieces.ts';
import type { TemporaryFiles } from './temporary-files.ts';

export interface BodyBufferOptions {
  readonly budget: BufferBudget;
  /** Absent: there is memory alone. */
  readonly files: TemporaryFiles | undefined;
  readonly owner: StockOwner;
  /** So much stays in memory, while there is room for it. */
  readonly memoryBytes: number;
  /** Bytes in the file. */
  readonly maxFileBytes: number;
  /** A file could not be opened, written or read. */
  readonly onProblem: (error: unknown) => void;
}

/** Bytes being written to the file, in addition to `memoryBytes`. */
const WRITE_AHEAD_BYTES = 256 * 1024;

export class BodyBuffer {
  readonly #options: BodyBufferOptions;
  readonly #pieces = new BufferPieces();
  #file: FileHandle | undefined;
  /** End of what is written in it. */
  #fileBytes = 0;
  #isWriting = false;
  /** The file takes no more. */
  #isFileFull: boolean;
  /** A write failed: the file is only read from now on. */
  #hasFailed = false;
  #keepsRead = false;
  #hasEnded = false;
  #isClosed = false;
  #error: Error | undefined;
  #countedBytes = 0;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  constructor(options: BodyBufferOptions) {
    this.#options = options;
    this.#isFileFull = options.files === undefined;
  }

  /** Bytes written so far. */
  get sizeBytes(): number {
    return this.#pieces.endAt;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** All of it so far, where all of it is in memory. */
  get bytes(): Buffer | undefined {
    return this.isWhole ? this.#pieces.bytes : undefined;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The first byte is still here. */
  get isWhole(): boolean {
    return this.#pieces.startAt === 0 && !this.#isClosed;
  }

  /** What is read stays, to be read again, until this is false again. */
  set keepsRead(keeps: boolean) {
    this.#keepsRead = keeps;
  }

  /** Whether there is no room until the reader has read. */
  get isFull(): boolean {
    return this.#isFileFull && !this.hasRoom;
  }

  get hasRoom(): boolean {
    const { memoryBytes, budget, owner } = this.#options;
    const { heldBytes } = this.#pieces;
    if (this.#isClosed || heldBytes === 0) return true;
    if (!budget.memoryBytes.mayTake(owner, 0)) return false;
    return heldBytes < memoryBytes + (this.#isFileFull ? 0 : WRITE_AHEAD_BYTES);
  }

  /** Takes the bytes in any case, as they are: they must not change. False: wait for `room` before the next ones. */
  add(bytes: Buffer): boolean {
    if (this.#isClosed || this.#hasEnded || bytes.length === 0) return true;
    this.#pieces.add(bytes);
    this.#count();
    this.#wakeReader?.();
    this.#writeOut();
    return this.hasRoom;
  }

  /** Resolves when more may come, the buffer is full or it is closed. */
  async room(): Promise<void> {
    while (!this.hasRoom && !this.isFull) {
      this.#writeOut();
      await this.#writerIsWoken();
    }
  }

  /** Resolves when more may be added (if the buffer is full, only after a read), or when it is closed. */
  async drained(): Promise<void> {
    while (!this.hasRoom) {
      this.#writeOut();
      await this.#writerIsWoken();
    }
  }

  #writerIsWoken(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wakeWriter = resolve;
    return promise;
  }

  /** Nothing is added any more. */
  end(): void {
    this.#hasEnded = true;
    this.#wakeReader?.();
  }

  /** The body stays incomplete: its reader gets this error. */
  fail(error: Error): void {
    if (this.#hasEnded) return;
    this.#error ??= error;
    this.#wakeReader?.();
  }

  /**
   * The next bytes from this position on, as soon as there are some; `undefined`: it ends there. Rejects when the body
   * failed, when its bytes were dropped or cannot be read.
   */
  async read(at: number): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#isClosed || at < this.#pieces.startAt) throw new Error('the buffered body is gone');
      if (at < this.#pieces.endAt) break;
      if (this.#hasEnded) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wakeReader = resolve;
      await promise;
    }
    const piece = this.#pieces.at(at);
    const bytes = piece.kind === 'memory' ? piece.bytes : await this.#readFile(piece);
    if (!this.#keepsRead) this.dropUpTo(at + bytes.length);
    return bytes;
  }

  /** What lies before this position is not needed any more. */
  dropUpTo(position: number): void {
    this.#pieces.dropUpTo(position);
    this.#count();
    this.#writeOut();
    this.#wakeWriter?.();
  }

  /** Releases all memory and disk space. Must be called in the end; a reader that is still reading gets an error. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pieces.dropUpTo(this.#pieces.endAt);
    this.#count();
    if (!this.#isWriting) this.#closeFile();
    this.#wakeReader?.();
    this.#wakeWriter?.();
  }

  async #readFile({ position, length }: { readonly position: number; readonly length: number }): Promise<Buffer> {
    const { files, onProblem } = this.#options;
    const bytes = Buffer.allocUnsafe(length);
    try {
      const result = await files?.inTurn(async () => this.#file?.read(bytes, 0, length, position));
      if (result?.bytesRead === length) return bytes;
      throw new Error('the file of a buffered body is shorter than what was written');
    } catch (error) {
      if (!this.#isClosed) onProblem(error);
      throw error;
    }
  }

  /** Memory that is not to stay goes into the file, one write at a time. */
  #writeOut(): void {
    const { files } = this.#options;
    if (this.#isWriting || files === undefined || !this.#mustWrite()) return;
    this.#isWriting = true;
    void this.#writeAll(files).finally(() => {
      this.#isWriting = false;
      if (this.#isClosed) this.#closeFile();
      this.#wakeWriter?.();
    });
  }

  #mustWrite(): boolean {
    if (this.#isClosed || this.#hasFailed) return false;
    return this.#isFileStale || (!this.#isFileFull && this.#hasTooMuch());
  }

  /** Nothing of what lies in the file is needed. Holds while nothing is being written. */
  get #isFileStale(): boolean {
    return this.#fileBytes > 0 && !this.#pieces.isInFile;
  }

  #hasTooMuch(): boolean {
    const { memoryBytes, budget, owner } = this.#options;
    const { heldBytes } = this.#pieces;
    return heldBytes > memoryBytes || (heldBytes > 0 && !budget.memoryBytes.mayTake(owner, 0));
  }

  /** Never rejects. */
  async #writeAll(files: TemporaryFiles): Promise<void> {
    try {
      while (this.#mustWrite()) {
        this.#file ??= await this.#openFile(files);
        if (this.#file === undefined) break;
        if (this.#isFileStale) await this.#truncate(files, this.#file);
        else if (!(await this.#writeNext(files, this.#file))) break;
        this.#wakeWriter?.();
      }
    } catch (error) {
      this.#hasFailed = true; // what is in memory stays there
      this.#isFileFull = true;
      this.#options.onProblem(error);
    }
  }

  /** `undefined`: there are enough of them. */
  async #openFile(files: TemporaryFiles): Promise<FileHandle | undefined> {
    const { budget, owner } = this.#options;
    this.#isFileFull = !budget.files.mayTake(owner, 1);
    if (this.#isFileFull) return undefined;
    budget.files.add(owner, 1);
    try {
      return await files.inTurn(files.open);
    } catch (error) {
      budget.files.add(owner, -1);
      throw error;
    }
  }

  /** False: nothing was written. */
  async #writeNext(files: TemporaryFiles, file: FileHandle): Promise<boolean> {
    const { memoryBytes, budget, owner, maxFileBytes } = this.#options;
    const stays = budget.memoryBytes.mayTake(owner, 0) ? memoryBytes : 0;
    const chosen = this.#pieces.chooseForFile(stays, WRITE_AHEAD_BYTES);
    if (chosen.length === 0) return false;
    const lengthBytes = chosen.reduce((sum, { size }) => sum + size, 0);
    const hasRoom = this.#fileBytes + lengthBytes <= maxFileBytes && budget.fileBytes.mayTake(owner, lengthBytes);
    if (!hasRoom) {
      this.#isFileFull = true;
      return false;
    }
    budget.fileBytes.add(owner, lengthBytes);
    const position = this.#fileBytes;
    this.#fileBytes += lengthBytes;
    const buffers = chosen.map(({ bytes, size }) => bytes.subarray(0, size));
    await files.inTurn(() => writeFully(file, buffers, position));
    this.#pieces.moveToFile(chosen, position);
    this.#count();
    return true;
  }

  async #truncate(files: TemporaryFiles, file: FileHandle): Promise<void> {
    await files.inTurn(() => file.truncate(0));
    this.#isFileFull = false;
    this.#giveFileBack();
  }

  #giveFileBack(): void {
    this.#options.budget.fileBytes.add(this.#options.owner, -this.#fileBytes);
    this.#fileBytes = 0;
  }

  #closeFile(): void {
    this.#giveFileBack();
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    this.#options.budget.files.add(this.#options.owner, -1);
    file.close().catch(this.#options.onProblem);
  }

  #count(): void {
    const { budget, owner } = this.#options;
    budget.memoryBytes.add(owner, this.#pieces.heldBytes - this.#countedBytes);
    this.#countedBytes = this.#pieces.heldBytes;
  }
}

/** `writev` may write less than it was given. */
async function writeFully(file: FileHandle, buffers: readonly Buffer[], position: number): Promise<void> {
  const bytes = buffers.length === 1 && buffers[0] !== undefined ? buffers[0] : Buffer.concat(buffers);
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}
