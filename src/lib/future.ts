/**
 * Values that are there at once or later. A request whose steps wait for nothing goes through all of them in one turn of the event
 * loop, without a promise for each. docs/decisions/0569
 */

/** A value, or a `Future` or a promise of one: nothing else that is thenable. */
export type Eventual<T> = T | PromiseLike<T>;

/**
 * Continues with the value: in this call if it is there already. Throws whatever `next` throws then; later, the result is
 * rejected with it.
 */
export function after<T, R>(value: Eventual<T>, next: (value: T) => Eventual<R>): Eventual<R> {
  return isPending(value) ? value.then(next) : next(value);
}

/** Returns what `work` results in, or what `onError` makes of the error that it throws or is rejected with. */
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
 * A promise with one reader, which is called in the turn in which the value is there. An error without a reader is lost: a chain
 * of them must end in one that takes errors. One object for each step, without a closure: a miss has a dozen.
 */
export class Future<T> implements PromiseLike<T> {
  #state: 'pending' | 'value' | 'error' = 'pending';
  /** The value or the error. */
  #result: unknown;
  #onValue: ((value: T) => Eventual<unknown>) | null | undefined;
  #onError: ((error: unknown) => Eventual<unknown>) | null | undefined;
  /** The future that has the result of the reader. */
  #next: Future<unknown> | undefined;
  #follower: Future<T> | undefined;

  /** Only the first call of `resolve` and `reject` counts. */
  resolve(value: T): void {
    this.#settle('value', value);
  }

  reject(error: unknown): void {
    this.#settle('error', error);
  }

  /** Throws at the second call. */
  // biome-ignore lint/suspicious/noThenProperty: async functions are to wait for it as for a promise
  then<R = T, E = never>(
    onValue?: ((value: T) => Eventual<R>) | null,
    onError?: ((error: unknown) => Eventual<E>) | null,
  ): Future<R | E> {
    this.#checkUnread();
    const next = new Future<R | E>();
    this.#onValue = onValue;
    this.#onError = onError;
    this.#next = next as Future<unknown>; // the functions above give what it is of
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
      next.#follow(read(this.#result as T)); // in this state it is what the function takes
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
