/** Objects that share one timer: thousands of separate timers would be reset all the time. */

export interface Swept<T> {
  readonly all: Iterable<T>;
  add(one: T): void;
  delete(one: T): void;
}

/** Creates a set whose members are swept every `sweepMs`. */
export function createSwept<T extends { sweep(sweepMs: number): void }>(sweepMs: number): Swept<T> {
  const all = new Set<T>();
  let timer: NodeJS.Timeout | undefined;
  const sweep = () => {
    for (const one of all) one.sweep(sweepMs);
  };
  return {
    all,
    add: (one) => {
      all.add(one);
      timer ??= setInterval(sweep, sweepMs);
    },
    delete: (one) => {
      all.delete(one);
      if (all.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

interface SweptConnections<T> extends Swept<T> {
  /** Closes all connections. */
  close(): void;
  cutAll(): void;
}

interface Connection {
  sweep(sweepMs: number): void;
  close(): void;
  cut(): void;
}

/** The connections of a server. */
export function createSweptConnections<T extends Connection>(sweepMs: number): SweptConnections<T> {
  const swept = createSwept<T>(sweepMs);
  return {
    ...swept,
    close: () => {
      for (const one of swept.all) one.close();
    },
    cutAll: () => {
      for (const one of swept.all) one.cut();
    },
  };
}
