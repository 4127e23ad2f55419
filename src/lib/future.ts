/**
 * Values that are available now or later. A request whose steps never wait runs through all of them in one turn of the
 * event loop, without a promise for each. docs/decisions/0569
 */

/** A value, or a `Future` or `Promise` of it. Other thenables are treated as values. */
export type Eventual<T> = T | PromiseLike<T>;

/**
 * Continues with the value, in this call if it is available. An error thrown by `next` is then thrown; otherwise it
 * rejects the result.
 */
export function after<T, R>(value: Eventual<T>, next: (value: T) => Eventual<R>): Eventual<R> {
  return isPending(value) ? value.then(next) : next(value);
}

/** Returns the result of `work`, or of `onError` if `work` throws or is rejected. */
export function recover<T>(work: () => Eventual<T>, onError: (error: unknown) => Eventual<T>): Eventual<T> {
  try {
    const value = work();
    return isPending(value) ? value.then(undefined, onError) : value;
  } catch (error) {
    return onError(error);
  }
}

function isPending<T>(value: Eventual<T>): value is PromiseLike<T> {
  return value instanceof Future || value instanceof Promise;
}

/**
 * A promise with one reader, which is called in the same turn in which the value is set. An error without a reader is
 * lost, so a chain must end with a reader of errors. Each step is one object without a closure, since a miss has a
 * dozen steps.
 */
export class Future<T> implements PromiseLike<T> {
  #state: 'pending' | 'value' | 'error' = 'pending';
  /** The value or the error. */
  #result: unknown;
  #onValue: ((value: T) => Eventual<unknown>) | null | undefined;
  #onError: ((error: unknown) => Eventual<unknown>) | null | undefined;
  /** The future of the reader's result. */
  #next: Future<unknown> | undefined;
  #follower: Future<T> | undefined;

  /** Sets the value. Only the first call of `resolve` or `reject` counts. */
  resolve(value: T): void {
    this.#settle('value', value);
  }

  reject(error: unknown): void {
    this.#settle('error', error);
  }

  /** Registers the only reader. Throws on a second call. */
  // biome-ignore lint/suspicious/noThenProperty: async functions are to wait for it as for a promise
  then<R = T, E = never>(
    onValue?: ((value: T) => Eventual<R>) | null,
    onError?: ((error: unknown) => Eventual<E>) | null,
  ): Future<R | E> {
    this.#checkUnread();
    const next = new Future<R | E>();
    this.#onValue = onValue;
    this.#onError = onError;
    this.#next = next as Future<unknown>; // the functions above return its type
    if (this.#state !== 'pending') this.#read(next as Future<unknown>);
    return next;
  }

  #settle(state: 'value' | 'error', result: unknown): void {
    if (this.#state !== 'pending') return;
    this.#state = state;
    this.#result = result;
    if (this.#next !== undefined) this.#read(this.#next);
    else if (this.#follower !== undefined) this.#follower.#settle(state, result);
  }

  #read(next: Future<unknown>): void {
    const read = this.#state === 'value' ? this.#onValue : this.#onError;
    if (!read) {
      if (this.#state !== 'pending') next.#settle(this.#state, this.#result);
      return;
    }
    try {
      next.#follow(read(this.#result as T)); // the state determines the type
    } catch (error) {
      next.reject(error);
    }
  }

  #follow(result: Eventual<T>): void {
    if (result instanceof Future) result.#leadTo(this);
    else if (isPending(result)) {
      result.then(
        (value) => this.resolve(value),
        (error: unknown) => this.reject(error),
      );
    } else this.resolve(result);
  }

  #leadTo(follower: Future<T>): void {
    this.#checkUnread();
    this.#follower = follower;
    if (this.#state !== 'pending') follower.#settle(this.#state, this.#result);
  }

  #checkUnread(): void {
    if (this.#next !== undefined || this.#follower !== undefined) throw new Error('a future has one reader');
  }
}
