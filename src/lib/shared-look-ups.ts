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
   * `take` gives what is to be found, all that has come by then: `find` calls it once, when it can ask. It leaves out
   * what it does not find. When it fails, all that it was asked for fail.
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
      await letOthersCome(); // what has arrived together goes together
      const close = () => {
        if (this.#next?.keys === keys) this.#next = undefined;
      };
      return await this.#find(() => {
        close();
        return [...keys];
      }).finally(close); // it may fail before it asks
    });
    this.#underWay = found.catch(() => undefined); // the callers get the error
    return { keys, found };
  }
}
