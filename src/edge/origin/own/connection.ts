/**
 * One connection of our own HTTP/1.1 client to an origin, without pipelining. Bytes that arrive while no request is in
 * flight end the connection. docs/decisions/0555
 */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { RawHeaders } from '#http/headers.ts';
import type { DirectWrite, OpenDirectWrite } from '#lib/node-internals/direct-write.ts';
import { pause, type SharedReading } from '#lib/node-internals/shared-reading.ts';
import type { RecycledBuffers } from '#lib/recycled-buffers.ts';
import type { Swept } from '#lib/swept.ts';
import type { OriginFailure } from '../../reasons.ts';
import { ORIGIN_KEEP_ALIVE_MS } from '../response-limits.ts';
import { type BodySource, OwnBody } from './body.ts';
import { type ParsedHead, type ReaderOwner, ResponseReader } from './response-reader.ts';
import { UnreadBytes } from './unread-bytes.ts';

export interface OwnRequest {
  /** The whole request as it is on the wire. */
  readonly bytes: Buffer;
  readonly isHead: boolean;
  /** Whether the request must not be sent on a connection that was idle. */
  readonly needsFresh: boolean;
}

/**
 * Notified of one exchange: first `onSent`, then `onInterim` any number of times, then either `onHead` or `onFailure`,
 * and one `onOver` after `onHead`. Nothing is called after the request was cancelled.
 */
export interface OwnHandler {
  /** The request is being sent. */
  onSent(): void;
  onInterim(status: number, headers: RawHeaders): void;
  onHead(head: ParsedHead, body: OwnBody): void;
  onFailure(failure: RequestFailure): void;
  /** Called for each read of the body, with its size in bytes. */
  onBytes(count: number): void;
  /** Called when the origin begins to wait for the reader of the body, and when it no longer does. */
  onWait(isWaiting: boolean): void;
  /**
   * The connection is free or closed. `cut` is why the body broke off; `undefined` if it is whole or was dropped on
   * purpose.
   */
  onOver(cut: string | undefined): void;
}

export interface RequestFailure {
  readonly failure: OriginFailure;
  readonly detail: string;
  /** Whether any byte of the request may have reached the origin. */
  readonly isSent: boolean;
  /** The connection had been idle and ended before a byte of a response: the origin may just have closed it. */
  readonly isIdleClose: boolean;
}

/** Parts that all connections of a worker share. */
export interface ConnectionParts {
  readonly reading: SharedReading;
  /** Buffers of one read's size for bytes that are not read yet. */
  readonly unread: RecycledBuffers;
  readonly openDirectWrite: OpenDirectWrite;
  readonly swept: Swept<OwnConnection>;
  readonly limits: ConnectionLimits;
  /** Milliseconds of a clock that never steps back. */
  readonly monotonic: () => number;
}

interface ConnectionLimits {
  /** Limit for the head of the response, all interim responses included. */
  readonly firstByteMs: number;
  /** Limit between two reads of a body, unless the origin waits for us. */
  readonly bodyIdleMs: number;
  /** Age after which a connection takes no more requests. */
  readonly maxAgeMs: number;
}

interface ConnectionOwner {
  /** Another request may be sent. */
  onIdle(connection: OwnConnection): void;
  onClosed(connection: OwnConnection): void;
}

export class OwnConnection implements ReaderOwner, BodySource {
  readonly #socket: Socket;
  readonly #direct: DirectWrite | undefined;
  readonly #parts: ConnectionParts;
  readonly #owner: ConnectionOwner;
  readonly #reader = new ResponseReader(this);
  readonly #endsAt: number;
  /** The exchange in flight; `undefined` if the connection is idle. */
  #handler: OwnHandler | undefined;
  #body: OwnBody | undefined;
  /** Bytes that arrived while the reader was paused. */
  readonly #rest: UnreadBytes;
  #isReading = false;
  #isSocketPaused = false;
  /** Whether the connection has carried an exchange before the current one. */
  #isReused = false;
  #hasAnswered = false;
  /** The origin has closed its side. */
  #hasEnded = false;
  /** The socket closed before the origin ended its side; bytes that arrived before may still be unread. */
  #isBroken = false;
  #isClosed = false;
  #error: Error | undefined;
  #idleMs = ORIGIN_KEEP_ALIVE_MS;
  /** Sweeps since the request was sent, since the last bytes of the body, or since the connection became idle. */
  #quietSweeps = 0;

  constructor(socket: Socket, parts: ConnectionParts, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#parts = parts;
    this.#owner = owner;
    this.#direct = socket instanceof TLSSocket ? undefined : parts.openDirectWrite(socket);
    this.#rest = new UnreadBytes(parts.unread);
    this.#endsAt = parts.monotonic() + parts.limits.maxAgeMs;
    socket.on('error', this.#onError).on('close', this.#onClose).on('end', this.#onEnd).on('data', this.#onData);
    parts.reading.begin(socket, this.#onData);
    parts.swept.add(this);
  }

  /** Whether a request may be sent now. Closes a connection that is too old or has received unasked bytes. */
  takeUp(): boolean {
    const isOpen = !this.#isClosed && !this.#isBroken;
    const isUsable = isOpen && !this.#hasUnaskedBytes && this.#parts.monotonic() < this.#endsAt;
    if (!isUsable) this.#close();
    return isUsable;
  }

  get #hasUnaskedBytes(): boolean {
    return this.#hasEnded || !this.#rest.isEmpty || this.#socket.readableLength > 0;
  }

  /** Sends a request. Must be called only after `takeUp` has returned true, in the same turn of the event loop. */
  send({ bytes, isHead }: OwnRequest, handler: OwnHandler): void {
    this.#handler = handler;
    this.#hasAnswered = false;
    this.#quietSweeps = 0;
    this.#reader.expect(isHead);
    handler.onSent();
    if (this.#direct?.tryAll(bytes, []) !== true) this.#socket.write(bytes);
  }

  /** Closes the connection if it still carries this exchange. */
  cancel(handler: OwnHandler): void {
    if (this.#handler !== handler) return;
    this.#handler = undefined;
    this.#body = undefined;
    this.#close();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#handler === undefined) return void this.#close();
    this.#hasAnswered = true;
    if (this.#body !== undefined) this.#quietSweeps = 0;
    if (this.#reader.isPaused) this.#keep(bytes);
    else this.#read(bytes);
  };

  #keep(bytes: Buffer): void {
    this.#rest.add(bytes);
    this.#body?.noteUnread();
    if (this.#isSocketPaused) return;
    this.#isSocketPaused = true;
    pause(this.#socket);
  }

  readonly #read = (bytes: Buffer): void => {
    this.#isReading = true;
    const at = this.#reader.read(bytes, 0);
    this.#isReading = false;
    if (this.#handler === undefined) return; // cancelled or dropped meanwhile
    const { fault, isOver } = this.#reader;
    if (fault !== undefined) this.#fail(fault.failure, fault.detail);
    else if (isOver) this.#conclude(at < bytes.length);
    else if (at < bytes.length) {
      this.#rest.add(bytes.subarray(at));
      this.#body?.noteUnread();
    }
  };

  onInterim(status: number, headers: RawHeaders): void {
    this.#handler?.onInterim(status, headers);
  }

  onHead(head: ParsedHead): void {
    const handler = this.#handler;
    if (handler === undefined) return;
    const body = new OwnBody(this, (isWaiting) => handler.onWait(isWaiting));
    this.#body = body;
    this.#quietSweeps = 0;
    handler.onHead(head, body);
    this.#reader.isPaused = body.isHeld || this.#handler === undefined;
  }

  onBody(bytes: Buffer): void {
    this.#handler?.onBytes(bytes.length);
    this.#body?.give(bytes);
  }

  pause(): void {
    this.#reader.isPaused = true;
  }

  resume(): void {
    this.#reader.isPaused = false;
    this.#quietSweeps = 0;
    if (this.#isReading || this.#handler === undefined) return;
    this.#rest.lend(this.#read);
    if (this.#handler === undefined || this.#reader.isPaused) return;
    this.#readSocketOn();
    if (this.#hasEnded || this.#isBroken) this.#endWithOrigin();
  }

  #readSocketOn(): void {
    if (!this.#isSocketPaused) return;
    this.#isSocketPaused = false;
    this.#socket.resume();
  }

  drop(): void {
    const handler = this.#handler;
    if (handler === undefined) return;
    this.cancel(handler);
    handler.onOver(undefined);
  }

  /** The response is complete. `hasSurplus`: unasked bytes follow it. */
  #conclude(hasSurplus: boolean): void {
    const [handler, body] = [this.#handler, this.#body];
    this.#handler = undefined;
    this.#body = undefined;
    this.#idleMs = this.#reader.idleMs;
    if (hasSurplus || this.#reader.isLast || !this.takeUp()) this.#close();
    else {
      this.#isReused = true;
      this.#quietSweeps = 0;
      this.#readSocketOn(); // the exchange had paused it
      this.#owner.onIdle(this);
    }
    handler?.onOver(undefined);
    body?.finish();
  }

  #fail(failure: OriginFailure, detail: string): void {
    const [handler, body] = [this.#handler, this.#body];
    this.#handler = undefined;
    this.#body = undefined;
    this.#close();
    if (body === undefined) {
      const isIdleClose = failure === 'originReset' && this.#isReused && !this.#hasAnswered;
      handler?.onFailure({ failure, detail, isSent: true, isIdleClose });
    } else {
      handler?.onOver(detail);
      body.fail(new Error(detail));
    }
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (!this.#reader.isPaused || this.#handler === undefined) this.#endWithOrigin();
  };

  #endWithOrigin(): void {
    if (this.#handler === undefined) this.#close();
    else if (!this.#isBroken && this.#body !== undefined && this.#reader.end()) this.#conclude(false);
    else this.#fail('originReset', this.#error?.message ?? 'the origin closed the connection');
  }

  readonly #onError = (error: Error): void => {
    this.#error = error;
  };

  /** Bytes that arrived before the close are still read, and may complete the response. */
  readonly #onClose = (): void => {
    if (this.#hasEnded && this.#handler !== undefined) return;
    this.#isBroken = true;
    if (this.#rest.isEmpty || this.#handler === undefined) this.#endWithOrigin();
  };

  /** Enforces the time limits. Called every `sweepMs` milliseconds. */
  sweep(sweepMs: number): void {
    if (this.#body !== undefined && this.#reader.isPaused) return; // the origin waits for us
    const { firstByteMs, bodyIdleMs } = this.#parts.limits;
    const quietMs = this.#quietSweeps++ * sweepMs;
    if (this.#handler === undefined) {
      if (quietMs >= this.#idleMs) this.#close();
    } else if (this.#body === undefined) {
      if (quietMs >= firstByteMs) this.#fail('originTimeout', 'no response in time');
    } else if (quietMs >= bodyIdleMs) this.#fail('originTimeout', 'the rest of the body did not arrive in time');
  }

  /** Closes the connection, also during an exchange. */
  destroy(): void {
    this.#fail('originReset', 'the connection was closed by the edge');
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#rest.clear();
    this.#reader.isPaused = true;
    this.#parts.swept.delete(this);
    this.#owner.onClosed(this);
    this.#socket.destroy();
  }
}
