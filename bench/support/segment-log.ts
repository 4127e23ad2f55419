/**
 * The way in which the cache disk makes room, each entry weighing 1: two queues, of entries that were used and of others. What is used
 * is copied to the end of the former, unless it lies in its newer part. docs/decisions/0562
 */

const NEW_SHARE = 1 / 8;
const OLD_SHARE = 1 / 4;

/** Keys in the order in which they were appended, copies included. */
interface Log {
  readonly keys: number[];
  first: number;
}

interface Place {
  readonly log: Log;
  readonly at: number;
}

export class SegmentLog {
  readonly #capacity: number;
  readonly #new: Log = { keys: [], first: 0 };
  readonly #used: Log = { keys: [], first: 0 };
  readonly #places = new Map<number, Place>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Whether it was there. */
  access(key: number): boolean {
    const place = this.#places.get(key);
    if (place === undefined) this.#append(this.#new, key);
    else if (place.log === this.#new || place.at - this.#used.first < sizeOf(this.#used) * OLD_SHARE)
      this.#append(this.#used, key);
    return place !== undefined;
  }

  #append(log: Log, key: number): void {
    this.#places.set(key, { log, at: log.keys.push(key) - 1 });
    const size = sizeOf(this.#new) + sizeOf(this.#used);
    if (size > this.#capacity) this.#removeFirst(sizeOf(this.#new) > size * NEW_SHARE ? this.#new : this.#used);
  }

  #removeFirst(log: Log): void {
    const key = log.keys[log.first] ?? 0;
    const place = this.#places.get(key);
    if (place?.log === log && place.at === log.first) this.#places.delete(key);
    log.first += 1;
  }
}

function sizeOf({ keys, first }: Log): number {
  return keys.length - first;
}
