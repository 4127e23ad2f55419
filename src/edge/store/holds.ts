/** The holds of one request on the store's memory, until the request is over. */
import type { Holdable, Release } from './store.ts';

export class Holds implements Disposable {
  #held: Map<Holdable, Release> | undefined;
  #isOver = false;

  /** Returns false if the bytes are gone or the request is over. Holding the same bytes again has no effect. */
  hold(one: Holdable): boolean {
    if (this.#isOver) return false;
    if (this.#held?.has(one) === true) return true;
    const release = one.hold();
    if (release === undefined) return false;
    this.#held ??= new Map();
    this.#held.set(one, release);
    return true;
  }

  release(): void {
    this.#isOver = true;
    if (this.#held === undefined) return;
    for (const release of this.#held.values()) release();
    this.#held = undefined;
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
