/** Tells by a folder's timestamp whether it must be listed again, which takes much longer. */
import { statSync } from 'node:fs';

/** Changes of a folder within this time may have the same timestamp. */
const SAME_TIME_MS = 50;
/** Time between listings of a folder that changed so lately. */
const LIST_MS = 10;

export class FolderWatch {
  readonly #folder: string;
  #listedAt = Number.NEGATIVE_INFINITY;
  #seenMs: number | undefined;
  /** Whether the folder may change again without another timestamp. */
  #mayChangeUnseen = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Whether the folder is `gone`, has `changed` since the last call that returned that, or is the `same`. A change may
   * be noticed `LIST_MS` late. `now`: milliseconds of a clock that never steps back.
   */
  check(now: number): 'gone' | 'changed' | 'same' {
    const changedMs = statSync(this.#folder, { throwIfNoEntry: false })?.mtimeMs;
    if (changedMs === undefined) return 'gone';
    const isDue = this.#mayChangeUnseen && now - this.#listedAt >= LIST_MS;
    if (changedMs === this.#seenMs && !isDue) return 'same';
    this.#listedAt = now;
    this.#seenMs = changedMs;
    this.#mayChangeUnseen = Math.abs(Date.now() - changedMs) <= SAME_TIME_MS;
    return 'changed';
  }
}
