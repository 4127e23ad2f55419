/**
 * Bounds the bytes of origins' bodies that a worker reads in one turn of the event loop, over all connections, and
 * chooses which connections are next. Node would read up to 2 MiB at once from a single socket, and hundreds of sockets
 * would delay every other request by a second. docs/decisions/0471
 */
export interface ReadTurns {
  /** Opens a reader for one body. `goOn` is called in a later turn, when its connection may be read again. */
  open(goOn: () => void): TurnReader;
}

export interface TurnReader {
  /** Counts bytes that were read. Returns false if the caller must stop reading until `goOn`. */
  note(bytes: number): boolean;
}

/** Takes some two milliseconds of work for a body that is stored; docs/decisions/0471 has the figures. */
export const READ_TURN_BYTES = 512 * 1024;

interface Waiting {
  /** Sequence number of the body; bodies that began earlier have lower ones. */
  readonly order: number;
  readonly goOn: () => void;
  isWaiting: boolean;
}

/**
 * Half of a turn goes to the bodies that began first, so that they end one after the other and free their slots,
 * instead of all ending late. The other half is shared round-robin. `defer` must run its argument in the next turn.
 */
export function createReadTurns(maxBytes: number, defer: (work: () => void) => void): ReadTurns {
  // An array: see `lib/roster.ts` for what a `Set` would cost.
  let waiting: Waiting[] = [];
  let opened = 0;
  let readBytes = 0;
  let isDeferred = false;
  const serve = (readers: readonly Waiting[], upToBytes: number): void => {
    for (const reader of readers) {
      if (readBytes >= upToBytes) return;
      if (!reader.isWaiting) continue;
      reader.isWaiting = false;
      reader.goOn(); // it may wait again at once
    }
  };
  const beginTurn = (): void => {
    isDeferred = false;
    readBytes = 0;
    const inTurn = waiting;
    waiting = [];
    serve(
      inTurn.toSorted((a, b) => a.order - b.order),
      maxBytes / 2,
    );
    serve(inTurn, maxBytes);
    const again = waiting;
    waiting = [...inTurn.filter((reader) => reader.isWaiting && !again.includes(reader)), ...again];
    if (waiting.length > 0) deferTurn();
  };
  const deferTurn = (): void => {
    if (isDeferred) return;
    isDeferred = true;
    defer(beginTurn);
  };
  return {
    open: (goOn) => {
      const reader: Waiting = { order: opened++, goOn, isWaiting: false };
      return {
        note: (bytes) => {
          readBytes += bytes;
          deferTurn();
          if (readBytes < maxBytes) return true;
          if (!reader.isWaiting) waiting.push(reader);
          reader.isWaiting = true;
          return false;
        },
      };
    },
  };
}
