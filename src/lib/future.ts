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

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/**
 * A promise with one reader, which is called in the turn in which the value is there. An error without a reader is lost: a chain
 * of them must end in one that takes errors.
 */
export class Future<T> implements PromiseLike<T> {
  #outcome: Outcome<T> | undefined;
  #reader: ((outcome: Outcome<T>) => void) | undefined;

  /** Only the first call of `resolve` and `reject` counts. */
  resolve(value: T): void {
    this.#settle({ value });
  }

  reject(error: unknown): void {
    this.#settle({ error });
  }

  /** Throws at the second call. */
  // biome-ignore lint/suspicious/noThenProperty: async functions are to wait for it as for a promise
  then<R = T, E = never>(
    onValue?: ((value: T) => Eventual<R>) | null,
    onError?: ((error: unknown) => Eventual<E>) | null,
  ): Future<R | E> {
    if (this.#reader !== undefined) throw new Error('a future has one reader');
    const next = new Future<R | E>();
    this.#reader = (outcome) => {
      try {
        if ('value' in outcome)
          next.#follow(onValue ? onValue(outcome.value) : (outcome.value as unknown as R)); // R is T then
        else if (onError) next.#follow(onError(outcome.error));
        else next.reject(outcome.error);
      } catch (error) {
        next.reject(error);
      }
    };
    if (this.#outcome !== undefined) this.#reader(this.#outcome);
    return next;
  }

  #settle(outcome: Outcome<T>): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#reader?.(outcome);
  }

  #follow(result: Eventual<T>): void {
    if (isPending(result)) {
      result.then(
        (value) => this.resolve(value),
        (error: unknown) => this.reject(error),
      );
    } else this.resolve(result);
  }
}
