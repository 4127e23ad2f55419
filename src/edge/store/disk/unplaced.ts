/** Bodies that are finished and belong to no key yet: those that never come to belong to one are removed. */
import { rm } from 'node:fs/promises';
import type { DiskBody } from './disk-body.ts';

/** Longest time between the end of a body and its `put`: at most the joining of parts. */
const MAX_UNPLACED_MS = 300_000;

export class Unplaced {
  readonly #finishedAt = new Map<DiskBody, number>();

  /** `now` is of a clock that never goes back. */
  add(body: DiskBody, now: number): DiskBody {
    this.#finishedAt.set(body, now);
    return body;
  }

  /** Removes a body that is not stored after all. */
  remove(body: DiskBody): void {
    this.#finishedAt.delete(body);
    if (body.hash !== undefined) return;
    void body.written.then(() => rm(body.path, { force: true })).catch(() => undefined); // swept when the process is gone
  }

  sweep(now: number): void {
    for (const [body, finishedAt] of this.#finishedAt) {
      if (body.hash !== undefined) this.#finishedAt.delete(body);
      else if (now - finishedAt > MAX_UNPLACED_MS) this.remove(body);
    }
  }
}
