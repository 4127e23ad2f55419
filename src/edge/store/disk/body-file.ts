/** Writes one body's file block by block, behind whoever gives the bytes, with a bound on what waits in memory. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { BLOCK_BYTES, blockPosition, encodeBodyHeader, STORED_BLOCK_BYTES, sealBlock } from './format.ts';

/** Of one body; a body whose file falls further behind is given up. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;
/** Buffers kept for the next block. */
const MAX_SPARE_BLOCKS = 32;

/** Shared by all writers of a store. */
export class BlockMemory {
  readonly #spare: Buffer[] = [];
  #leftBytes: number;

  constructor(maxBytes: number) {
    this.#leftBytes = maxBytes;
  }

  /** `undefined`: the disk is too far behind. */
  take(): Buffer | undefined {
    if (this.#leftBytes < STORED_BLOCK_BYTES) return undefined;
    this.#leftBytes -= STORED_BLOCK_BYTES;
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(STORED_BLOCK_BYTES);
  }

  giveBack(block: Buffer): void {
    this.#leftBytes += STORED_BLOCK_BYTES;
    if (this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(block);
  }
}

export interface BodyFileOptions {
  readonly bodyId: string;
  /** Must not exist. */
  readonly path: string;
  readonly memory: BlockMemory;
  readonly onProblem: (error: unknown) => void;
}

export class BodyFileWriter {
  readonly #options: BodyFileOptions;
  #handle: FileHandle | undefined;
  #block: Buffer | undefined;
  #usedBytes = 0;
  #blocks = 0;
  #sizeBytes = 0;
  #queuedBytes = 0;
  #hasFailed = false;
  /** One write after another; never rejects. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: BodyFileOptions) {
    this.#options = options;
  }

  get bodyId(): string {
    return this.#options.bodyId;
  }

  get path(): string {
    return this.#options.path;
  }

  /** Copies. False: the disk fails or is too slow; discard it then. */
  add(chunk: Buffer): boolean {
    for (let from = 0; from < chunk.length; ) {
      this.#block ??= this.#options.memory.take();
      if (this.#block === undefined || this.#hasFailed || this.#queuedBytes > MAX_QUEUED_BYTES) return false;
      const copied = chunk.copy(this.#block, this.#usedBytes, from, from + BLOCK_BYTES - this.#usedBytes);
      from += copied;
      this.#usedBytes += copied;
      this.#sizeBytes += copied;
      if (this.#usedBytes === BLOCK_BYTES) this.#queueBlock();
    }
    return true;
  }

  /** `undefined` when little waits to be written. */
  drained(): Promise<void> | undefined {
    return this.#queuedBytes * 2 > MAX_QUEUED_BYTES ? this.#work : undefined;
  }

  /** Resolves when every byte is in the file; false when that failed, and then the file is gone. */
  async finish(): Promise<boolean> {
    if (this.#usedBytes > 0) this.#queueBlock();
    void this.#queue(async (handle) => {
      const header = encodeBodyHeader(this.bodyId, this.#sizeBytes);
      await writeAll(handle, header, 0);
    });
    await this.#work;
    if (this.#hasFailed) {
      await this.discard();
      return false;
    }
    await this.#close();
    return true;
  }

  async discard(): Promise<void> {
    this.#hasFailed = true;
    if (this.#block !== undefined) this.#options.memory.giveBack(this.#block);
    this.#block = undefined;
    await this.#work;
    if (this.#handle === undefined) return;
    await this.#close();
    await rm(this.path, { force: true }).catch(() => undefined); // swept later
  }

  #queueBlock(): void {
    const block = this.#block;
    if (block === undefined) return;
    const index = this.#blocks++;
    const usedBytes = this.#usedBytes;
    this.#block = undefined;
    this.#usedBytes = 0;
    this.#queuedBytes += usedBytes;
    const written = this.#queue(async (handle) => {
      await writeAll(handle, sealBlock(block, usedBytes, this.bodyId, index), blockPosition(index));
    });
    void written.then(() => {
      this.#queuedBytes -= usedBytes;
      this.#options.memory.giveBack(block);
    });
  }

  #queue(write: (handle: FileHandle) => Promise<void>): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#hasFailed) return;
      try {
        this.#handle ??= await open(this.path, 'wx', 0o600);
        await write(this.#handle);
      } catch (error) {
        this.#hasFailed = true;
        this.#options.onProblem(error);
      }
    });
    return this.#work;
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(this.#options.onProblem);
  }
}

export function newBodyId(): string {
  return randomBytes(8).toString('hex');
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, from, bytes.length - from, position + from);
    from += bytesWritten;
  }
}
