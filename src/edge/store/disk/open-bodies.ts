/**
 * Files open for reading, shared by concurrent readers and kept open for a moment after the last: a file that another
 * worker removes stays readable, and a hot one is not reopened for each answer.
 */
import { type FileHandle, open } from 'node:fs/promises';

const IDLE_MS = 5_000;
const MAX_IDLE = 256;

export interface OpenFile {
  readonly handle: FileHandle;
  /** Must be called once; the handle must not be used afterwards. */
  release(): void;
}

interface Held {
  readonly handle: Promise<FileHandle>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

export class OpenBodies {
  readonly #held = new Map<string, Held>();
  /** Bodies without readers, the longest idle first. */
  readonly #idle = new Set<string>();

  /**
   * Opens a file, or shares its open handle. `bodyId` identifies the file; `path` is its current location. Rejects as
   * `open` does.
   */
  async acquire(bodyId: string, path: string): Promise<OpenFile> {
    const held = this.#held.get(bodyId) ?? { handle: open(path, 'r'), users: 0, timer: undefined };
    this.#held.set(bodyId, held);
    held.users += 1;
    clearTimeout(held.timer);
    this.#idle.delete(bodyId);
    try {
      const handle = await held.handle;
      let isHeld = true;
      const release = () => {
        if (isHeld) this.#release(bodyId, held);
        isHeld = false;
      };
      return { handle, release };
    } catch (error) {
      if (this.#held.get(bodyId) === held) this.#held.delete(bodyId);
      throw error;
    }
  }

  /** Closes bodies without a reader. */
  closeIdle(): void {
    for (const bodyId of [...this.#idle]) this.#close(bodyId);
  }

  #release(bodyId: string, held: Held): void {
    held.users -= 1;
    if (held.users > 0) return;
    held.timer = setTimeout(() => this.#close(bodyId), IDLE_MS).unref();
    this.#idle.add(bodyId);
    const [oldest] = this.#idle;
    if (this.#idle.size > MAX_IDLE && oldest !== undefined) this.#close(oldest);
  }

  #close(bodyId: string): void {
    const held = this.#held.get(bodyId);
    if (held === undefined || held.users > 0) return;
    clearTimeout(held.timer);
    this.#held.delete(bodyId);
    this.#idle.delete(bodyId);
    // Closing a file that was only read cannot lose anything.
    void held.handle.then((handle) => handle.close()).catch(() => undefined);
  }
}
