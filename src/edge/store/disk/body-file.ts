/** Writes one body's file block by block in the background, with a bound on the bytes queued in memory. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { BLOCK_BYTES, blockPosition, encodeBodyHeader, STORED_BLOCK_BYTES, sealBlock } from './format.ts';

/** Limit of queued bytes of one body; a body whose file falls further behind is given up. */
const MAX_QUEUED_BYTES = 12 * 1024 * 1024;
/** Blocks per write: 4 MiB. */
const MAX_BATCH = 16;
/** Buffers kept for reuse. */
const MAX_SPARE_BLOCKS = 16;

/** Memory for blocks, shared by all writers of a store. */
export class BlockMemory {
  readonly #spare: Buffer[] = [];
  #leftBytes: number;

  constructor(maxBytes: number) {
    this.#leftBytes = maxBytes;
  }

  /**
   * Returns a buffer for one block and its checksum; `undefined` if the memory is used up, as the disk is too far
   * behind.
   */
  take(): Buffer | undefined {
    if (this.#leftBytes < STORED_BLOCK_BYTES) return undefined;
    this.#leftBytes -= STORED_BLOCK_BYTES;
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(STORED_BLOCK_BYTES);
  }

  giveBack(block: Buffer): void {
    this.#leftBytes += STORED_BLOCK_BYTES;
    if (this.#spare.length < MAX_SPARE_BLOCKS && block.length === STORED_BLOCK_BYTES) this.#spare.push(block);
  }
}

export interface BodyFileOptions {
  readonly bodyId: string;
  /** Path of the file, which must not exist. */
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
  /** Sealed blocks that wait to be written, in order. */
  readonly #waiting: Buffer[] = [];
  /** Bytes of the waiting blocks and of those being written. */
  #queuedBytes = 0;
  #writtenBlocks = 0;
  #hasFailed = false;
  /** The running write loop; never rejects. */
  #pumping: Promise<void> | undefined;

  constructor(options: BodyFileOptions) {
    this.#options = options;
  }

  get bodyId(): string {
    return this.#options.bodyId;
  }

  get path(): string {
    return this.#options.path;
  }

  /** Copies a chunk. Returns false if the disk fails or is too slow; the caller must then discard the body. */
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

  /** Returns a promise to wait for while more than half of the queue is full, otherwise `undefined`. */
  drained(): Promise<void> | undefined {
    return this.#queuedBytes * 2 > MAX_QUEUED_BYTES ? this.#pumping : undefined;
  }

  /** Resolves to true when every byte is in the file, or to false if writing failed and the file was removed. */
  async finish(): Promise<boolean> {
    if (this.#usedBytes > 0) this.#queueBlock();
    await this.#pumping;
    await this.#tryTo(async (handle) => {
      await writeAll(handle, [encodeBodyHeader(this.bodyId, this.#sizeBytes)], 0);
    });
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
    await this.#pumping;
    if (this.#handle === undefined) return;
    await this.#close();
    await rm(this.path, { force: true }).catch(() => undefined); // the janitor removes it later
  }

  #queueBlock(): void {
    if (this.#block === undefined) return;
    this.#waiting.push(sealBlock(this.#block, this.#usedBytes, this.bodyId, this.#blocks));
    this.#blocks += 1;
    this.#queuedBytes += STORED_BLOCK_BYTES;
    this.#block = undefined;
    this.#usedBytes = 0;
    this.#pumping ??= this.#pump();
  }

  /**
   * Writes up to `MAX_BATCH` waiting blocks at once: one block per write would be one per turn of a busy event loop.
   */
  async #pump(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      await this.#tryTo((handle) => writeAll(handle, batch, blockPosition(this.#writtenBlocks)));
      this.#writtenBlocks += batch.length;
      this.#queuedBytes -= batch.length * STORED_BLOCK_BYTES;
      for (const block of batch) this.#options.memory.giveBack(block);
    }
    this.#pumping = undefined;
  }

  /** Runs a write unless an earlier one failed. A failure is reported, not thrown. */
  async #tryTo(write: (handle: FileHandle) => Promise<void>): Promise<void> {
    if (this.#hasFailed) return;
    try {
      this.#handle ??= await open(this.path, 'wx', 0o600);
      await write(this.#handle);
    } catch (error) {
      this.#hasFailed = true;
      this.#options.onProblem(error);
    }
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

export async function writeAll(handle: FileHandle, buffers: readonly Buffer[], position: number): Promise<void> {
  const { bytesWritten } = await handle.writev([...buffers], position);
  const length = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
  if (bytesWritten === 0 && length > 0) throw new Error('nothing was written');
  if (bytesWritten === length) return;
  await writeAll(handle, [Buffer.concat(buffers).subarray(bytesWritten)], position + bytesWritten);
}
