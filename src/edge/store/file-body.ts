/** A body on disk, as used by the memory tier: loaded into memory at its first use if it is small enough. */
import type { ByteSpan } from '#http/range.ts';
import type { DiskBody } from './disk/disk-body.ts';
import type { BodyWriter, Release, StoredBody } from './store.ts';

export interface FileBodyOptions {
  /** Opens a writer into memory; `undefined` if the body is too large for it. */
  readonly openWriter: ((sizeBytes: number) => BodyWriter) | undefined;
  readonly onLost: (body: FileBody) => void;
}

export class FileBody implements StoredBody {
  readonly file: DiskBody;
  readonly sizeBytes: number;
  readonly #options: FileBodyOptions;
  #loading: Promise<boolean> | undefined;
  #loaded: StoredBody | undefined;
  #holds = 0;
  #keeps = 0;
  /** Hold and keep of the loaded body, for as long as this body is held or kept. */
  #releaseHeld: Release | undefined;
  #releaseKept: Release | undefined;

  constructor(file: DiskBody, options: FileBodyOptions) {
    this.file = file;
    this.sizeBytes = file.sizeBytes;
    this.#options = options;
  }

  get isOnDisk(): boolean {
    return this.#loaded === undefined;
  }

  get inMemory(): readonly Buffer[] | undefined {
    return this.#loaded?.inMemory;
  }

  get heldBytes(): number {
    return this.#loaded === undefined ? 0 : this.sizeBytes;
  }

  get readerBytes(): number {
    return this.#loaded === undefined ? this.file.readerBytes : 0;
  }

  hold(): Release {
    this.#holds += 1;
    this.#settle();
    return once(() => {
      this.#holds -= 1;
      this.#settle();
    });
  }

  keep(): Release {
    this.#keeps += 1;
    this.#settle();
    return once(() => {
      this.#keeps -= 1;
      this.#settle();
    });
  }

  /** Passes holds and keeps on to the loaded body, which is dropped when there are none; the file remains. */
  #settle(): void {
    const loaded = this.#loaded;
    if (this.#holds > 0) this.#releaseHeld ??= loaded?.hold();
    if (this.#keeps > 0) this.#releaseKept ??= loaded?.keep?.();
    if (this.#holds === 0) {
      this.#releaseHeld?.();
      this.#releaseHeld = undefined;
    }
    if (this.#keeps === 0) {
      this.#releaseKept?.();
      this.#releaseKept = undefined;
    }
    if (this.#holds > 0 || this.#keeps > 0) return;
    this.#loaded = undefined;
  }

  readonly prepare = async (): Promise<boolean> => {
    if (this.#loaded !== undefined) return true;
    const loading = this.#loading ?? this.#load();
    this.#loading = loading;
    const isReadable = await loading;
    if (this.#loading === loading) this.#loading = undefined;
    if (!isReadable) this.#options.onLost(this);
    return isReadable;
  };

  read(span: ByteSpan): Iterable<Buffer> | AsyncIterable<Buffer> {
    return this.#loaded?.read(span) ?? this.#readFile(span);
  }

  async *#readFile(span: ByteSpan): AsyncGenerator<Buffer> {
    try {
      yield* this.file.read(span);
    } catch (error) {
      this.#options.onLost(this);
      throw error;
    }
  }

  /**
   * Loads the body. Returns false if the file is gone or damaged. Without room in memory the file is read each time.
   */
  async #load(): Promise<boolean> {
    const writer = this.#options.openWriter?.(this.sizeBytes);
    try {
      if (writer === undefined) return await this.file.prepare();
      for await (const piece of this.file.read({ first: 0, last: this.sizeBytes - 1 })) {
        if (!writer.add(piece)) return await this.file.prepare();
      }
      if (this.#holds === 0 && this.#keeps === 0) return true;
      this.#loaded = writer.finish();
      this.#settle();
      return true;
    } catch {
      return false; // the disk tier has counted the failure
    } finally {
      writer?.discard();
    }
  }
}

function once(release: Release): Release {
  let isReleased = false;
  return () => {
    if (!isReleased) release();
    isReleased = true;
  };
}
