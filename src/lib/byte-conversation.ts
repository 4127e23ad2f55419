/**
 * The state of a connection whose requests we read and answer one after the other: unread bytes, backpressure, turns,
 * idle time, half-close, and the hand-over to node:http. Its owner reads requests and answers them. docs/decisions/0525
 */
import type { Socket } from 'node:net';
import { pause, type SharedReading } from './node-internals/shared-reading.ts';

/** The side of a connection that knows its protocol. */
export interface ConversationOwner {
  /**
   * Serves requests from the beginning of `bytes`, and then calls `begin`, `pause`, `keepPartial`, `wait` or `end`. The
   * bytes are only lent: their memory may be reused after this call.
   */
  read(bytes: Buffer): void;
  /** The client has ended its side in the middle of a request: ends the connection. */
  onPartialEnded(): void;
  /** The client has ended its side, and a request is being served: at the end, and at each later request. */
  onHalfClosed?(): void;
  /** The socket has room for more. */
  onDrain?(): void;
  /** The client does not take its answers, or takes them again. */
  onStall?(isStalled: boolean): void;
  /** Nothing has been received for `quietMs`, nor is anything in flight. */
  onQuiet(quietMs: number): void;
  /** node:http reads on from here. Takes the owner's listeners off; `rest`: received and not served. */
  onHandedOver(rest: Buffer): void;
  /** Called with requests that were received and will not be served, since the connection is gone. */
  onLost?(rest: Buffer): void;
  onClosed(): void;
}

/** What all connections of a server share. */
export interface ConversationOptions {
  readonly reading: SharedReading;
  /** Answers in a row that wait for nothing; then other connections have their turn. */
  readonly answersInTurn: number;
  /** Time for the rest of a request; node:http has the limits and refusals for slower ones. */
  readonly patienceMs: number;
  /** Time for a client that keeps sending after our last answer. */
  readonly lingerMs: number;
  /** Time for a client that does not take the last answer; 0: unlimited. */
  readonly endIdleMs: number;
  /** Whether no new requests are served. */
  isClosing(): boolean;
}

/** A request in more pieces would be read again too often. Many clients send head and body in a piece each. */
const MAX_PIECES = 4;
const NOTHING = Buffer.alloc(0);

export class ByteConversation {
  readonly #socket: Socket;
  readonly #owner: ConversationOwner;
  readonly #options: ConversationOptions;
  /** A request is being served, or the next one waits for its turn. */
  #isBusy = false;
  /** Received, and not looked at or not whole yet. */
  #rest: Buffer | undefined;
  /** Reads in which the incomplete request has arrived. */
  #pieces = 0;
  /** Nothing is read: backpressure. */
  #isHeld = false;
  #isStalled = false;
  /** The client has ended its side. */
  #hasEnded = false;
  /** Nothing more is served. */
  #isOver = false;
  /** Our side has ended; what the client still sends is discarded. */
  #isLingering = false;
  #answersInTurn = 0;
  /** The owner is reading, and whether it is to read the rest afterwards. */
  #isReading = false;
  #readsOn = false;
  /** Sweeps since the connection last had something to do. */
  #quietSweeps = 0;

  constructor(socket: Socket, owner: ConversationOwner, options: ConversationOptions) {
    this.#socket = socket;
    this.#owner = owner;
    this.#options = options;
    socket.on('close', this.#onClose).on('drain', this.#onDrain).on('end', this.#onEnd).on('data', this.#onData);
    options.reading.begin(socket, this.#onData);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isOver) return;
    this.#quietSweeps = 0;
    const all = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#isBusy) {
      this.#keep(all);
      this.#hold();
    } else {
      this.#answersInTurn = 0;
      this.#read(all);
    }
  };

  /** A request may have its answer before the owner returns: the next one is read here then, not on top of it. */
  #read(all: Buffer): void {
    for (let bytes: Buffer | undefined = all; bytes !== undefined; ) {
      this.#rest = undefined;
      this.#isBusy = false;
      this.#isReading = true;
      this.#owner.read(bytes);
      this.#isReading = false;
      bytes = this.#readsOn && !this.#isOver ? this.#rest : undefined;
      this.#readsOn = false;
    }
  }

  /** Counts an answer. True: call `pause`, since the client takes no more, or others have waited long enough. */
  endsTurn(): boolean {
    this.#pieces = 0;
    return this.#socket.writableNeedDrain || ++this.#answersInTurn >= this.#options.answersInTurn;
  }

  /** Serves `rest` when the client has taken its answers, or when other connections have had their turn. */
  pause(rest: Buffer): void {
    if (rest.length > 0) this.#keep(rest);
    this.#isBusy = true;
    if (!this.#socket.writableNeedDrain) return void setImmediate(this.#goOn);
    this.#isStalled = true;
    this.#hold();
    this.#owner.onStall?.(true);
  }

  readonly #goOn = (): void => {
    if (this.#isOver) return;
    this.#answersInTurn = 0;
    if (this.#rest === undefined) this.wait();
    else this.#read(this.#rest);
  };

  /**
   * A request is served from now on, until `next`; `rest` follows it. Reading continues, to notice clients that leave.
   */
  begin(rest: Buffer): void {
    this.#isBusy = true;
    this.#pieces = 0;
    if (rest.length > 0) this.#keep(rest);
    if (this.#hasEnded) this.#owner.onHalfClosed?.();
  }

  /** The request that was begun has its answer. */
  next(): void {
    if (this.#isOver) return;
    if (this.#socket.writableNeedDrain) this.pause(NOTHING);
    else if (this.#rest === undefined) this.wait();
    else if (++this.#answersInTurn >= this.#options.answersInTurn) setImmediate(this.#goOn);
    else if (this.#isReading) this.#readsOn = true;
    else this.#read(this.#rest);
  }

  /** Keeps the beginning of a request. `isOurs`: its rest is waited for; else the connection is handed over. */
  keepPartial(bytes: Buffer, isOurs: boolean): void {
    this.#keep(bytes);
    if (!isOurs || ++this.#pieces > MAX_PIECES) this.giveAway();
    else this.wait();
  }

  /** Waits for the client's next bytes. */
  wait(): void {
    this.#isBusy = false;
    this.#quietSweeps = 0;
    if (this.#hasEnded) return void this.#endWithClient();
    if (this.#options.isClosing()) return void this.close();
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#socket.resume();
  }

  #keep(bytes: Buffer): void {
    this.#rest = this.#options.reading.keep(bytes);
  }

  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    pause(this.#socket);
  }

  /** No new requests are served. */
  close(): void {
    if (this.#isBusy || this.#isOver) return;
    if (this.#rest === undefined) this.end();
    else this.giveAway();
  }

  /** Ends the connection after the bytes that were written to the socket. */
  end(): void {
    this.#stopServing();
    this.#socket.destroySoon();
  }

  /**
   * Ends the connection after the last answer. The client may still be sending, and a reset would discard the answer.
   * RFC 9112 §9.6
   */
  endBehindAnswer(): void {
    if (this.#hasEnded) return void this.end();
    this.#stopServing();
    this.#isLingering = true;
    this.#socket.end();
    this.#socket.resume();
  }

  #stopServing(): void {
    this.#isOver = true;
    this.#rest = undefined;
    this.#quietSweeps = 0;
    if (this.#options.endIdleMs > 0) this.#socket.setTimeout(this.#options.endIdleMs);
  }

  /** Hands the connection over to node:http, received bytes untouched. */
  giveAway(): void {
    const socket = this.#socket;
    const rest = this.#rest ?? NOTHING;
    this.#isOver = true;
    if (!socket.writable) {
      this.#owner.onLost?.(rest); // no answer could be sent
      return void socket.destroySoon();
    }
    pause(socket);
    this.#options.reading.end(socket);
    socket.off('close', this.#onClose).off('drain', this.#onDrain).off('end', this.#onEnd).off('data', this.#onData);
    this.#owner.onHandedOver(rest);
  }

  readonly #onDrain = (): void => {
    this.#owner.onDrain?.();
    if (!this.#isStalled) return;
    this.#endStall();
    this.#goOn();
  };

  #endStall(): void {
    this.#isStalled = false;
    this.#owner.onStall?.(false);
  }

  /** The client says no more. It may still read. docs/decisions/0325 */
  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (this.#isOver) this.end();
    else if (this.#isBusy) this.#owner.onHalfClosed?.();
    else this.#endWithClient();
  };

  #endWithClient(): void {
    if (this.#rest === undefined) this.end();
    else this.#owner.onPartialEnded();
  }

  readonly #onClose = (): void => {
    const lost = this.#isOver ? undefined : this.#rest;
    this.#isOver = true;
    if (this.#isStalled) this.#endStall();
    this.#owner.onClosed();
    if (lost !== undefined) this.#owner.onLost?.(lost);
  };

  /** Called every `sweepMs`: one timer for all connections. */
  sweep(sweepMs: number): void {
    if (this.#isOver ? !this.#isLingering : this.#isBusy) return;
    const quietMs = this.#quietSweeps++ * sweepMs;
    if (this.#isLingering) {
      if (quietMs < this.#options.lingerMs) return;
      this.#isLingering = false;
      this.#socket.destroySoon();
    } else if (this.#rest === undefined) this.#owner.onQuiet(quietMs);
    else if (quietMs >= this.#options.patienceMs) this.giveAway();
  }
}
