/**
 * The body of an origin's response on a connection of our own client: passed to one sink as it arrives, or read as a
 * stream.
 */
import { Readable } from 'node:stream';
import { ownBytes } from '#lib/own-bytes.ts';

/** Receives a body. Exactly one of `onEnd` and `onCut` is called, once, and nothing after it. */
export interface BodySink {
  /** The next bytes, valid during the call only: their memory is reused. */
  onChunk(bytes: Buffer): void;
  onEnd(): void;
  /** The body broke off, or was destroyed with this error. */
  onCut(error: Error): void;
}

/** The connection that the body arrives on. */
export interface BodySource {
  /** Delivers no more bytes until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the connection: the rest of the body is not wanted. */
  drop(): void;
}

/**
 * Reasons, as bits, why a body is not read; several may hold at once. `start`: it has no sink yet. `sink`:
 * backpressure. `turn`: other connections are read first.
 */
const HELD_FOR = { start: 1, sink: 2, turn: 4 } as const;

/** Size of one read of a socket. */
const STREAM_BUFFER_BYTES = 64 * 1024;

export class OwnBody {
  readonly #source: BodySource;
  /** Notified when the origin begins to wait for the sink, and when it no longer does. */
  readonly #onWait: (isWaiting: boolean) => void;
  #sink: BodySink | undefined;
  #held: number = HELD_FOR.start;
  /** `whole`, or why the body broke off; `undefined` while bytes are missing. */
  #end: 'whole' | Error | undefined;
  #readable: Readable | undefined;
  #isWaiting = false;

  constructor(source: BodySource, onWait: (isWaiting: boolean) => void) {
    this.#source = source;
    this.#onWait = onWait;
  }

  /** Whether the connection must deliver no bytes now. */
  get isHeld(): boolean {
    return this.#held !== 0;
  }

  /**
   * Passes the body to the sink, which may be called before this returns. Throws if the body has a reader already, also
   * by `toReadable`.
   */
  start(sink: BodySink): void {
    // A second reader would miss the bytes that the first one has.
    if (this.#sink !== undefined) throw new Error('a body has one reader');
    this.#sink = sink;
    if (this.#end === undefined) this.#letGo(HELD_FOR.start);
    else this.#tellEnd();
  }

  /** Backpressure: the sink takes no more until `resume`. Bytes that were read already may still end the body. */
  pause(): void {
    if ((this.#held & HELD_FOR.sink) !== 0 || this.#end !== undefined) return;
    this.#hold(HELD_FOR.sink);
  }

  resume(): void {
    if ((this.#held & HELD_FOR.sink) === 0 || this.#end !== undefined) return;
    if (this.#isWaiting) {
      this.#isWaiting = false;
      this.#onWait(false);
    }
    this.#letGo(HELD_FOR.sink);
  }

  /** Closes the connection unless the body is whole. */
  destroy(error?: Error | null): void {
    if (this.#end !== undefined) return;
    this.#end = error ?? new Error('the body was not wanted any more');
    this.#source.drop();
    this.#tellEnd();
  }

  /** Returns the body as a stream, the same one each time. Destroying it destroys the body. */
  toReadable(): Readable {
    this.#readable ??= this.#openReadable();
    return this.#readable;
  }

  #openReadable(): Readable {
    const readable = new Readable({
      highWaterMark: STREAM_BUFFER_BYTES,
      read: () => this.resume(),
      destroy: (error, callback) => {
        this.destroy(error);
        callback(error);
      },
    });
    this.start({
      onChunk: (bytes) => {
        if (!readable.push(ownBytes([bytes]))) this.pause();
      },
      onEnd: () => void readable.push(null),
      onCut: (error) => void readable.destroy(error),
    });
    return readable;
  }

  // The methods below are for the connection and the exchange.

  give(bytes: Buffer): void {
    this.#sink?.onChunk(bytes);
  }

  /** Stops reading until `goOn`: other connections are read first. */
  waitForTurn(): void {
    if (this.#end === undefined) this.#hold(HELD_FOR.turn);
  }

  goOn(): void {
    if (this.#end === undefined) this.#letGo(HELD_FOR.turn);
  }

  /** Called for bytes that arrive and are not read: if the sink has paused, the origin waits for it from now on. */
  noteUnread(): void {
    if ((this.#held & HELD_FOR.sink) === 0 || this.#isWaiting) return;
    this.#isWaiting = true;
    this.#onWait(true);
  }

  finish(): void {
    this.#end = 'whole';
    this.#tellEnd();
  }

  fail(error: Error): void {
    this.#end = error;
    this.#tellEnd();
  }

  #hold(reason: number): void {
    const wasHeld = this.isHeld;
    this.#held |= reason;
    if (!wasHeld) this.#source.pause();
  }

  #letGo(reason: number): void {
    const wasHeld = this.isHeld;
    this.#held &= ~reason;
    if (wasHeld && !this.isHeld) this.#source.resume();
  }

  #tellEnd(): void {
    if (this.#end === 'whole') this.#sink?.onEnd();
    else if (this.#end !== undefined) this.#sink?.onCut(this.#end);
  }
}

/** Returns a body as a stream, whichever client received it. */
export function asReadable(body: Readable | OwnBody): Readable {
  return body instanceof OwnBody ? body.toReadable() : body;
}
