/**
 * The state of a connection whose requests are read and answered one at a time: unread bytes, backpressure, turns, idle
 * time, half-close, and the hand-over to node:http. The owner parses and answers requests. docs/decisions/0525
 */
import type { Socket } from 'node:net';
import { pause, type SharedReading } from './node-internals/shared-reading.ts';

/** The side of a connection that knows its protocol. */
export interface ConversationOwner {
  /**
   * Serves the requests at the beginning of `bytes`, then calls `begin`, `pause`, `keepPartial`, `wait` or `end`. The
   * bytes are only lent: their memory may be reused after this call.
   */
  read(bytes: Buffer): void;
  /** Called when the client has ended its side in the middle of a request: ends the connection. */
  onPartialEnded(): void;
  /** Called when the client has ended its side while a request is served, and for each request served after that. */
  onHalfClosed?(): void;
  /** Called when the socket has room again. */
  onDrain?(): void;
  /** Called when the client stops taking its answers, and when it continues. */
  onStall?(isStalled: boolean): void;
  /** Called when nothing was received for `quietMs` and nothing is in flight. */
  onQuiet(quietMs: number): void;
  /**
   * Called to hand the connection over to node:http. Must remove the owner's listeners. `rest`: received bytes that
   * were not served.
   */
  onHandedOver(rest: Buffer): void;
  /** Called with requests that were received and will not be served, since the connection is gone. */
  onLost?(rest: Buffer): void;
  onClosed(): void;
}

/** Options shared by all connections of a server. */
export interface ConversationOptions {
  readonly reading: SharedReading;
  /** Answers without a wait, after which other connections get their turn. */
  readonly answersInTurn: number;
  /** Longest wait for the rest of a request; node:http then applies its own limits. */
  readonly patienceMs: number;
  /** How long a client may keep sending after our last answer. */
  readonly lingerMs: number;
  /** Time limit for a client that does not take the last answer; 0: unlimited. */
  readonly endIdleMs: number;
  /** Whether no new requests are served. */
  isClosing(): boolean;
}

/** Reads per request before it is handed over: each one parses it again. Many clients send head and body separately. */
const MAX_PIECES = 4;
const NOTHING = Buffer.alloc(0);

export class ByteConversation {
  readonly #socket: Socket;
  readonly #owner: ConversationOwner;
  readonly #options: ConversationOptions;
  /** A request is being served, or the next one waits for its turn. */
  #isBusy = false;
  /** Received bytes that are not parsed yet or are an incomplete request. */
  #rest: Buffer | undefined;
  /** Reads in which the incomplete request has arrived. */
  #pieces = 0;
  /** Reading is paused for backpressure. */
  #isHeld = false;
  #isStalled = false;
  /** The client has ended its side. */
  #hasEnded = false;
  /** Nothing more is served. */
  #isOver = false;
  /** Our side has ended; what the client still sends is discarded. */
  #isLingering = false;
  #answersInTurn = 0;
  /** The owner is reading; `#readsOn`: it must read the rest afterwards. */
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

  /**
   * Calls the owner in a loop. A request may be answered before `read` returns; the next one is then read here instead
   * of recursively.
   */
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

  /**
   * Counts an answer. Returns true if `pause` must be called, because the client takes no more or other connections
   * have waited long enough.
   */
  endsTurn(): boolean {
    this.#pieces = 0;
    return this.#socket.writableNeedDrain || ++this.#answersInTurn >= this.#options.answersInTurn;
  }

  /** Serves `rest` after the client has taken its answers, or after other connections had their turn. */
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
   * Marks a request as being served, until `next`; `rest` follows it. Reading continues, to notice clients that leave.
   */
  begin(rest: Buffer): void {
    this.#isBusy = true;
    this.#pieces = 0;
    if (rest.length > 0) this.#keep(rest);
    if (this.#hasEnded) this.#owner.onHalfClosed?.();
  }

  /** Continues after the current request was answered. */
  next(): void {
    if (this.#isOver) return;
    if (this.#socket.writableNeedDrain) this.pause(NOTHING);
    else if (this.#rest === undefined) this.wait();
    else if (++this.#answersInTurn >= this.#options.answersInTurn) setImmediate(this.#goOn);
    else if (this.#isReading) this.#readsOn = true;
    else this.#read(this.#rest);
  }

  /** Keeps an incomplete request. `isOurs`: waits for its rest; otherwise hands the connection over. */
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

  /** Serves no new requests. */
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

  /** The client has ended its side, but may still read. docs/decisions/0325 */
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

  /** Counts the time without bytes anew. */
  restartQuiet(): void {
    this.#quietSweeps = 0;
  }

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
