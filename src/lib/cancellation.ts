/** Cancellation of a request: as much of an `AbortSignal` as requests use, without an `EventTarget` for each of them. docs/decisions/0569 */

/** A token that says whether the result is still wanted. Any `AbortSignal` can stand for one. */
export interface Cancellation {
  readonly aborted: boolean;
  /** The listener is called once, when `aborted` becomes true; never if it is already. */
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A cancellation and the right to bring it about. */
export class CancellationSource implements Cancellation {
  #isAborted = false;
  readonly #listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.#isAborted;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#isAborted && !this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  /** Calls the listeners in the order in which they were added, less those that another one takes off. Does nothing the second time. */
  abort(): void {
    this.#isAborted = true;
    for (let listener = this.#listeners.shift(); listener !== undefined; listener = this.#listeners.shift()) listener();
  }
}
