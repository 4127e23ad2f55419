/**
 * Batched look-ups: calls that arrive while a query is in flight share the next one. Nothing is cached: an answer is
 * never older than the call that it answers.
 */
import { setImmediate as letOthersCome } from 'node:timers/promises';

/** Keys in one query. */
const MAX_KEYS = 500;

export class SharedLookUps<K, V> {
  readonly #find: (take: () => readonly K[]) => Promise<ReadonlyMap<K, V>>;
  #next: { readonly keys: Set<K>; readonly found: Promise<ReadonlyMap<K, V>> } | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  /**
   * `find` calls `take` once, as late as possible, for all keys that have arrived by then. Its result omits keys that
   * were not found. If it fails, the look-ups of all these keys fail.
   */
  constructor(find: (take: () => readonly K[]) => Promise<ReadonlyMap<K, V>>) {
    this.#find = find;
  }

  async get(key: K): Promise<V | undefined> {
    if (this.#next === undefined || this.#next.keys.size >= MAX_KEYS) this.#next = this.#begin();
    const { keys, found } = this.#next;
    keys.add(key);
    return (await found).get(key);
  }

  #begin() {
    const keys = new Set<K>();
    const found = this.#underWay.then(async () => {
      await letOthersCome(); // keys of the same turn share a query
      const close = () => {
        if (this.#next?.keys === keys) this.#next = undefined;
      };
      return await this.#find(() => {
        close();
        return [...keys];
      }).finally(close); // it may fail before it asks
    });
    this.#underWay = found.catch(() => undefined); // callers receive the error
    return { keys, found };
  }
}
