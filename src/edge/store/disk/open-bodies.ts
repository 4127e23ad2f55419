/**
 * Body files that are open for reading, shared by those who read them at once, and kept open for a moment longer: a file
 * that another worker removes stays readable, and a hot one is not opened anew for each answer.
 */
import { type FileHandle, open } from 'node:fs/promises';

const IDLE_MS = 5_000;
const MAX_IDLE = 256;

export interface OpenFile {
  readonly handle: FileHandle;
  /** Once; the handle may be closed after it. */
  release(): void;
}

interface Held {
  readonly handle: Promise<FileHandle>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

export class OpenBodies {
  readonly #held = new Map<string, Held>();
  /** Idle bodies in the order in which they became so. */
  readonly #idle = new Set<string>();

  /** `bodyId` names the file for good; `path` is where it lies now. Rejects as opening does. */
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
    // It was open, and closing a file that was only read cannot lose anything.
    void held.handle.then((handle) => handle.close()).catch(() => undefined);
  }
}
