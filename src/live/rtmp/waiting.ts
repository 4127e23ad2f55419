/** Connections that neither publish nor play: limited per client network and in total. Pure. docs/decisions/0488 */

export interface WaitingLimits {
  readonly maxWaitingPerNetwork: number;
  readonly maxWaiting: number;
}

export class Waiting<T> {
  readonly #limits: WaitingLimits;
  /** Connections with their network, oldest first. */
  readonly #all = new Map<T, string | undefined>();
  readonly #byNetwork = new Map<string, Set<T>>();

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#all.size;
  }

  /**
   * Adds a connection. Returns the one that has to make room. While `network` is unknown, only the total limit counts.
   */
  enter(item: T, network: string | undefined): T | undefined {
    this.leave(item);
    this.#all.set(item, network);
    const neighbours = network === undefined ? undefined : this.#neighbours(network).add(item);
    if (neighbours !== undefined && neighbours.size > this.#limits.maxWaitingPerNetwork)
      return this.#remove(neighbours);
    return this.#all.size > this.#limits.maxWaiting ? this.#remove(this.#all) : undefined;
  }

  leave(item: T): void {
    const network = this.#all.get(item);
    this.#all.delete(item);
    if (network === undefined) return;
    const neighbours = this.#neighbours(network);
    neighbours.delete(item);
    if (neighbours.size === 0) this.#byNetwork.delete(network);
  }

  items(): T[] {
    return [...this.#all.keys()];
  }

  #neighbours(network: string): Set<T> {
    const known = this.#byNetwork.get(network);
    if (known !== undefined) return known;
    const created = new Set<T>();
    this.#byNetwork.set(network, created);
    return created;
  }

  #remove(items: { keys(): Iterator<T> }): T | undefined {
    const { value, done } = items.keys().next();
    if (done === true) return undefined;
    this.leave(value);
    return value;
  }
}
