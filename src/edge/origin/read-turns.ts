/**
 * Bounds the bytes of origins' bodies that a worker reads in one turn of the event loop, over all connections, and chooses
 * which connections are next. A socket alone would be read for up to 2 MiB at once, and hundreds of them would delay every
 * other request by a second. docs/decisions/0471
 */
export interface ReadTurns {
  /** Opens a reader for one body. `goOn` is called in a later turn, when its connection may be read again. */
  open(goOn: () => void): TurnReader;
}

export interface TurnReader {
  /** Counts bytes that were read. False: read no more until `goOn` is called. */
  note(bytes: number): boolean;
}

/** Two milliseconds of work or so. */
export const READ_TURN_BYTES = 1024 * 1024;

interface Waiting {
  /** Rank in the order in which bodies began. */
  readonly order: number;
  readonly goOn: () => void;
}

/**
 * Half of a turn belongs to the bodies that began first: they end one after the other, and others get their slots at the origin,
 * where all would end late otherwise. In the other half all take turns. `defer`: runs the work in the next turn.
 */
export function createReadTurns(maxBytes: number, defer: (work: () => void) => void): ReadTurns {
  const waiting = new Set<Waiting>();
  let opened = 0;
  let readBytes = 0;
  let isDeferred = false;
  const serve = (readers: Iterable<Waiting>, upToBytes: number): void => {
    for (const reader of readers) {
      if (readBytes >= upToBytes) return;
      if (waiting.delete(reader)) reader.goOn(); // it may have to wait again
    }
  };
  const beginTurn = (): void => {
    isDeferred = false;
    readBytes = 0;
    const inTurn = [...waiting];
    serve(
      inTurn.toSorted((a, b) => a.order - b.order),
      maxBytes / 2,
    );
    serve(inTurn, maxBytes);
    if (waiting.size > 0) deferTurn();
  };
  const deferTurn = (): void => {
    if (isDeferred) return;
    isDeferred = true;
    defer(beginTurn);
  };
  return {
    open: (goOn) => {
      const reader: Waiting = { order: opened++, goOn };
      return {
        note: (bytes) => {
          readBytes += bytes;
          deferTurn();
          if (readBytes < maxBytes) return true;
          waiting.add(reader);
          return false;
        },
      };
    },
  };
}
