/** A body on disk as the memory tier holds it: read into memory as a whole at its first use, when it is small enough. */
import type { ByteSpan } from '#http/range.ts';
import type { DiskBody } from './disk/disk-body.ts';
import { holdNothing, readWhole, wrapBytes } from './memory-body.ts';
import type { StoredBody } from './store.ts';

export interface FileBodyEvents {
  readonly onLoaded: (body: FileBody) => void;
  readonly onLost: (body: FileBody) => void;
}

export class FileBody implements StoredBody {
  readonly file: DiskBody;
  readonly sizeBytes: number;
  readonly hold = holdNothing;
  readonly #mayLoad: boolean;
  readonly #events: FileBodyEvents;
  #loading: Promise<boolean> | undefined;
  #loaded: StoredBody | undefined;

  constructor(file: DiskBody, mayLoad: boolean, events: FileBodyEvents) {
    this.file = file;
    this.sizeBytes = file.sizeBytes;
    this.#mayLoad = mayLoad;
    this.#events = events;
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

  readonly prepare = async (): Promise<boolean> => {
    if (this.#loaded !== undefined) return true;
    if (this.#mayLoad) this.#loading ??= this.#load();
    const isReadable = await (this.#loading ?? this.file.prepare());
    if (!isReadable) this.#events.onLost(this);
    return isReadable;
  };

  read(span: ByteSpan): Iterable<Buffer> | AsyncIterable<Buffer> {
    return this.#loaded?.read(span) ?? this.#readFile(span);
  }

  async *#readFile(span: ByteSpan): AsyncGenerator<Buffer> {
    try {
      yield* this.file.read(span);
    } catch (error) {
      this.#events.onLost(this);
      throw error;
    }
  }

  async #load(): Promise<boolean> {
    try {
      this.#loaded = wrapBytes(await readWhole(this.file));
    } catch {
      return false; // the disk tier has counted it
    }
    this.#events.onLoaded(this);
    return true;
  }
}
