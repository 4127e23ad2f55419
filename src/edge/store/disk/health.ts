/** Whether the disk can be used: after a failure nothing is written for a while, and serving goes on without it. */
import type { StoreRefusal } from '../store.ts';

const PAUSE_MS = 1_000;

/** What is counted. `storeBusy`: the disk is too slow for what arrives. `damaged`: a body's bytes are not what was written. */
export type DiskProblem = StoreRefusal | 'storeBusy' | 'damaged';

export type OnDiskProblem = (problem: DiskProblem, error: unknown) => void;

export class DiskHealth {
  readonly #onProblem: OnDiskProblem;
  #refusal: StoreRefusal | undefined;
  #pauseUntil = 0;

  constructor(onProblem: OnDiskProblem) {
    this.#onProblem = onProblem;
  }

  /** `undefined`: use it. `now` is of a clock that never goes back. */
  refusal(now: number): StoreRefusal | undefined {
    return now < this.#pauseUntil ? this.#refusal : undefined;
  }

  noteFailure(error: unknown, now: number): void {
    this.#refusal = isFull(error) ? 'storeFull' : 'storeError';
    this.#pauseUntil = now + PAUSE_MS;
    this.#onProblem(this.#refusal, error);
  }

  note(problem: DiskProblem, error: unknown): void {
    this.#onProblem(problem, error);
  }
}

const SQLITE_FULL = 13;

function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT' || ('errcode' in error && error.errcode === SQLITE_FULL);
}
