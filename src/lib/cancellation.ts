/**
 * Cancellation of a request: the part of `AbortSignal` that requests use, without an `EventTarget` for each.
 * docs/decisions/0569
 */

/** Tells whether a result is still wanted. Any `AbortSignal` satisfies this type. */
export interface Cancellation {
  readonly aborted: boolean;
  /** The listener is called once, when `aborted` becomes true; never if it is already. */
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A cancellation together with the means to trigger it. */
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

  /**
   * Calls the listeners in the order of addition, except those that another listener removes. Further calls do nothing.
   */
  abort(): void {
    this.#isAborted = true;
    for (let listener = this.#listeners.shift(); listener !== undefined; listener = this.#listeners.shift()) listener();
  }
}
