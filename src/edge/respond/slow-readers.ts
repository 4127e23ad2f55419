/**
 * Clients that take a body slower than the disk delivers it: each keeps pieces of it in memory. Their total is limited.
 * docs/decisions/0291
 */
import type { Viewer } from '../viewer.ts';

export interface SlowReaders {
  /** Counts a client that must be waited for and keeps `bytes` meanwhile. Returns a function that ends that. */
  wait(viewer: Reader, bytes: number): () => void;
}

type Reader = Pick<Viewer, 'cut' | 'received'>;

interface Waiting {
  readonly viewer: Reader;
  readonly bytes: number;
}

/** Cuts clients beyond `maxBytes`: those of the connection with the most waiting clients, the longest waiting first. */
export function createSlowReaders(maxBytes: number): SlowReaders {
  /** The waiting clients by connection, in the order in which their waits began. */
  const connections = new Map<object, Set<Waiting>>();
  let total = 0;

  const remove = (connection: object, one: Waiting): void => {
    const own = connections.get(connection);
    if (own?.delete(one) !== true) return;
    total -= one.bytes;
    if (own.size === 0) connections.delete(connection);
  };

  const cutOne = (): void => {
    const [first] = connections;
    if (first === undefined) return;
    let [worst, most] = first;
    for (const [connection, own] of connections) if (own.size > most.size) [worst, most] = [connection, own];
    const [longest] = most;
    if (longest === undefined) return;
    remove(worst, longest);
    longest.viewer.cut(503);
  };

  return {
    wait: (viewer, bytes) => {
      if (bytes === 0) return NOTHING;
      const connection = viewer.received.secured ?? viewer;
      const one = { viewer, bytes };
      const own = connections.get(connection) ?? new Set();
      // A new connection goes last, so that among equals the one that has waited longest is cut.
      if (own.size === 0) connections.set(connection, own);
      own.add(one);
      total += bytes;
      while (total > maxBytes && connections.size > 0) cutOne();
      return () => remove(connection, one);
    },
  };
}

const NOTHING = (): void => undefined;
