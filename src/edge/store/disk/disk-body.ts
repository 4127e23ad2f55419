/** A body in its own file. Each block is verified before any of its bytes are returned. */
import type { FileHandle } from 'node:fs/promises';
import type { ByteSpan } from '#http/range.ts';
import type { KeyHash } from '../key-hash.ts';
import { holdNothing } from '../memory-body.ts';
import type { StoredBody } from '../store.ts';
import {
  BLOCK_BYTES,
  BODY_HEADER_BYTES,
  blockPosition,
  countBlocks,
  isBodyHeader,
  openBlock,
  STORED_BLOCK_BYTES,
} from './format.ts';
import type { OpenBodies, OpenFile } from './open-bodies.ts';

export interface DiskBodyOptions {
  readonly bodyId: string;
  readonly sizeBytes: number;
  readonly path: string;
  /** Hash of the body's key; `undefined` while it belongs to none. */
  readonly hash: KeyHash | undefined;
  readonly files: OpenBodies;
  /** Resolves to true when the file is complete, or to false if writing it failed. */
  readonly written: Promise<boolean>;
  /** Called if the file is gone or its bytes are damaged. */
  readonly onLost: (body: DiskBody) => void;
}

export class DiskBody implements StoredBody {
  readonly bodyId: string;
  readonly sizeBytes: number;
  readonly hold = holdNothing;
  readonly isOnDisk = true;
  readonly heldBytes = 0;
  /** Memory of one reader: the current block and the next. */
  readonly readerBytes = 2 * STORED_BLOCK_BYTES;
  readonly written: Promise<boolean>;
  readonly #options: DiskBodyOptions;
  #path: string;
  #hash: KeyHash | undefined;
  #move: Promise<void> | undefined;

  constructor(options: DiskBodyOptions) {
    this.#options = options;
    this.bodyId = options.bodyId;
    this.sizeBytes = options.sizeBytes;
    this.written = options.written;
    this.#path = options.path;
    this.#hash = options.hash;
  }

  get path(): string {
    return this.#path;
  }

  get hash(): KeyHash | undefined {
    return this.#hash;
  }

  /**
   * Moves the file to the path of its key with `move`. A reader that does not find the file meanwhile waits for the
   * move.
   */
  moveTo(path: string, hash: KeyHash, move: (from: string, to: string) => Promise<void>): Promise<void> {
    this.#move = move(this.#path, path).then(() => {
      this.#path = path;
      this.#hash = hash;
    });
    return this.#move;
  }

  /**
   * Opens the file and checks its header and first block. Returns whether it can be read; the file stays open for a
   * moment.
   */
  readonly prepare = async (): Promise<boolean> => {
    try {
      const open = await this.#open();
      try {
        await this.#readBlock(open.handle, 0);
      } finally {
        open.release();
      }
      return true;
    } catch {
      this.#options.onLost(this); // whatever the error is, the body cannot be read
      return false;
    }
  };

  async *read({ first, last }: ByteSpan): AsyncGenerator<Buffer> {
    if (last < first) return;
    const end = Math.floor(last / BLOCK_BYTES);
    let open: OpenFile | undefined;
    let ahead: Promise<Buffer> | undefined;
    try {
      open = await this.#open();
      for (let index = Math.floor(first / BLOCK_BYTES); index <= end; index++) {
        const block = await (ahead ?? this.#readBlock(open.handle, index));
        ahead = index < end ? this.#readBlock(open.handle, index + 1) : undefined;
        ahead?.catch(() => undefined); // awaited in the next round, if there is one
        const start = index * BLOCK_BYTES;
        yield block.subarray(Math.max(0, first - start), Math.min(block.length, last + 1 - start));
      }
    } catch (error) {
      this.#options.onLost(this);
      throw error;
    } finally {
      await ahead?.catch(() => undefined); // the file must stay open until the read ends
      open?.release();
    }
  }

  async #open(): Promise<OpenFile> {
    if (!(await this.written)) throw new Error('the body was not written');
    const { files, bodyId } = this.#options;
    const open = await files.acquire(bodyId, this.#path).catch(async (error: unknown) => {
      if (this.#move === undefined) throw error;
      await this.#move.catch(() => undefined); // after a failure the file is where it was
      return files.acquire(bodyId, this.#path);
    });
    try {
      const header = Buffer.allocUnsafe(BODY_HEADER_BYTES);
      const { bytesRead } = await open.handle.read(header, 0, header.length, 0);
      if (bytesRead !== header.length || !isBodyHeader(header, bodyId, this.sizeBytes))
        throw new Error('not the header of this body');
      return open;
    } catch (error) {
      open.release();
      throw error;
    }
  }

  async #readBlock(handle: FileHandle, index: number): Promise<Buffer> {
    const isLast = index === countBlocks(this.sizeBytes) - 1;
    const expected = isLast
      ? this.sizeBytes - index * BLOCK_BYTES + STORED_BLOCK_BYTES - BLOCK_BYTES
      : STORED_BLOCK_BYTES;
    const sealed = Buffer.allocUnsafeSlow(expected);
    for (let at = 0; at < expected; ) {
      const { bytesRead } = await handle.read(sealed, at, expected - at, blockPosition(index) + at);
      if (bytesRead === 0) throw new Error('the file is too short');
      at += bytesRead;
    }
    const block = openBlock(sealed, this.bodyId, index);
    if (block === undefined) throw new Error('a block is damaged');
    return block;
  }
}
