/**
 * Bodies that slow clients keep in memory after the cache has evicted them: a body cannot be freed while it is being
 * sent. Their total is limited; beyond it, the clients of the body that was begun first are cut.
 */
import type { StoredBody } from '../store/store.ts';
import type { Viewer } from '../viewer.ts';
import { createSlowReaders } from './slow-readers.ts';

const CHECK_MS = 1_000;

export interface Pins {
  /** Holds a body for a client that must be waited for. Returns a function that releases it. */
  hold(body: StoredBody, viewer: Pick<Viewer, 'cut'>): () => void;
  /**
   * Counts a client that is being waited for with pieces of the body that only it holds. Returns a function that ends
   * that.
   */
  wait(body: StoredBody, viewer: Pick<Viewer, 'cut' | 'received'>): () => void;
}

export interface PinsOptions {
  readonly maxBytes: number;
  /** Bytes read from the disk for clients that are waited for. */
  readonly maxReaderBytes: number;
  /** Whether the cache counts the body's memory. */
  readonly isCounted: (body: StoredBody) => boolean;
}

export function createPins({ maxBytes, maxReaderBytes, isCounted }: PinsOptions): Pins {
  const slowReaders = createSlowReaders(maxReaderBytes);
  const readers = new Map<StoredBody, Set<Pick<Viewer, 'cut'>>>();
  let timer: NodeJS.Timeout | undefined;

  const check = (): void => {
    const pinned = [...readers].filter(([body]) => !isCounted(body));
    let bytes = pinned.reduce((sum, [body]) => sum + weigh(body), 0);
    for (const [body, viewers] of pinned) {
      if (bytes <= maxBytes) return;
      bytes -= weigh(body);
      for (const viewer of viewers) viewer.cut(503);
    }
  };

  return {
    wait: (body, viewer) => slowReaders.wait(viewer, body.readerBytes ?? 0),
    hold: (body, viewer) => {
      const viewers = readers.get(body) ?? new Set();
      readers.set(body, viewers.add(viewer));
      timer ??= setInterval(check, CHECK_MS).unref();
      return () => {
        viewers.delete(viewer);
        if (viewers.size === 0 && readers.get(body) === viewers) readers.delete(body);
        if (readers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

/** Pins at most one body for a client, from its first wait until the answer is over. */
export class Pin implements Disposable {
  readonly #pins: Pins;
  readonly #viewer: Pick<Viewer, 'cut'>;
  #release: (() => void) | undefined;

  constructor(pins: Pins, viewer: Pick<Viewer, 'cut'>) {
    this.#pins = pins;
    this.#viewer = viewer;
  }

  /** Does nothing after the first body. `undefined`: nothing is kept in memory. */
  hold(body: StoredBody | undefined): void {
    if (body !== undefined) this.#release ??= this.#pins.hold(body, this.#viewer);
  }

  [Symbol.dispose](): void {
    this.#release?.();
  }
}

function weigh(body: StoredBody): number {
  return body.heldBytes ?? body.sizeBytes;
}
