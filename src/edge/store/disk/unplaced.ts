/** Finished bodies that do not belong to a key yet. Those that never do are removed. */
import { rm } from 'node:fs/promises';
import type { DiskBody } from './disk-body.ts';

/** Limit of the time between the end of a body and its `put`, which may include joining parts. */
const MAX_UNPLACED_MS = 300_000;

export class Unplaced {
  readonly #finishedAt = new Map<DiskBody, number>();

  /** Returns the body. `now` is of a clock that never steps back. */
  add(body: DiskBody, now: number): DiskBody {
    this.#finishedAt.set(body, now);
    return body;
  }

  /** Removes the file of a body that will not be stored. */
  remove(body: DiskBody): void {
    this.#finishedAt.delete(body);
    if (body.hash !== undefined) return;
    void body.written.then(() => rm(body.path, { force: true })).catch(() => undefined); // the janitor removes it later
  }

  sweep(now: number): void {
    for (const [body, finishedAt] of this.#finishedAt) {
      if (body.hash !== undefined) this.#finishedAt.delete(body);
      else if (now - finishedAt > MAX_UNPLACED_MS) this.remove(body);
    }
  }
}
