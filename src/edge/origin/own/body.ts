/** The body of an origin's response on a connection of ours: given to one sink as it arrives, or read as a stream. */
import { Readable } from 'node:stream';
import { ownBytes } from '#lib/own-bytes.ts';

/** Receives a body. After `onEnd` or `onCut`, one of which is called once, nothing more is. */
export interface BodySink {
  /** The next bytes, lent for the time of the call: their memory is used again. */
  onChunk(bytes: Buffer): void;
  onEnd(): void;
  /** The body broke off, or was destroyed with this error. */
  onCut(error: Error): void;
}

/** The connection that the body arrives on. */
export interface BodySource {
  /** No more bytes are given until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the connection: the rest of the body is not wanted. */
  drop(): void;
}

/** The reason why a body is not read on; several may hold at once. */
const HELD_FOR = { start: 1, sink: 2, turn: 4 } as const;

/** One read of a socket. */
const STREAM_BUFFER_BYTES = 64 * 1024;

export class OwnBody {
  readonly #source: BodySource;
  /** Notified when the sink makes the origin wait, and when it no longer does. */
  readonly #onWait: (isWaiting: boolean) => void;
  #sink: BodySink | undefined;
  #held: number = HELD_FOR.start;
  /** `whole`, or why it broke off; `undefined`: bytes are still missing. */
  #end: 'whole' | Error | undefined;
  #readable: Readable | undefined;
  #isWaiting = false;

  constructor(source: BodySource, onWait: (isWaiting: boolean) => void) {
    this.#source = source;
    this.#onWait = onWait;
  }

  /** The connection is to give no bytes now. */
  get isHeld(): boolean {
    return this.#held !== 0;
  }

  /** Gives the body to the sink, which may be called before this returns. Throws if it was called before, or `toReadable` was. */
  start(sink: BodySink): void {
    // The first reader has bytes that the second would not get.
    if (this.#sink !== undefined) throw new Error('a body has one reader');
    this.#sink = sink;
    if (this.#end === undefined) this.#letGo(HELD_FOR.start);
    else this.#tellEnd();
  }

  /** The sink takes no more until `resume`. What was read already may still end the body. */
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

  /** Drops the connection unless the body is whole. */
  destroy(error?: Error | null): void {
    if (this.#end !== undefined) return;
    this.#end = error ?? new Error('the body was not wanted any more');
    this.#source.drop();
    this.#tellEnd();
  }

  /** The body as a stream; the same one each time. Destroying it destroys the body. */
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

  // What follows is for the connection and the exchange.

  give(bytes: Buffer): void {
    this.#sink?.onChunk(bytes);
  }

  /** Called when another connection has its turn to be read. */
  waitForTurn(): void {
    if (this.#end === undefined) this.#hold(HELD_FOR.turn);
  }

  goOn(): void {
    if (this.#end === undefined) this.#letGo(HELD_FOR.turn);
  }

  /** Bytes have arrived that are not read: if the sink has paused, the origin waits for it from now on. */
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

/** A body as a stream, whichever client has received it. */
export function asReadable(body: Readable | OwnBody): Readable {
  return body instanceof OwnBody ? body.toReadable() : body;
}
