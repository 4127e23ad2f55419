/**
 * Tracks whether the disk can be used: after a failure nothing is written for `PAUSE_MS`, and serving continues without
 * the disk.
 */
import type { StoreRefusal } from '../store.ts';

const PAUSE_MS = 1_000;

/** Counted problems. `storeBusy`: the disk is too slow for the incoming bytes. `damaged`: a body is lost or damaged. */
export type DiskProblem = StoreRefusal | 'storeBusy' | 'damaged';

export type OnDiskProblem = (problem: DiskProblem, error: unknown) => void;

export class DiskHealth {
  readonly #onProblem: OnDiskProblem;
  #refusal: StoreRefusal | undefined;
  #pauseUntil = 0;

  constructor(onProblem: OnDiskProblem) {
    this.#onProblem = onProblem;
  }

  /** Returns why the disk must not be used now; `undefined` if it may be. `now` is of a clock that never steps back. */
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
