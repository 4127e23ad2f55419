/**
 * One request to one origin, by our own client or by undici. Turns undici's callbacks into a promise of a head and a
 * stream, and its errors into reasons. docs/decisions/0555
 */
import { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import { hasField, type RawHeaders } from '#http/headers.ts';
import { after, type Eventual } from '#lib/future.ts';
import type { OriginFailure } from '../reasons.ts';
import { ConnectError } from './connector.ts';
import { type AttemptResult, type AttemptTools, type OriginRequest, TakenBack } from './origin-request.ts';
import type { OriginSlot, SlotAnswer } from './origin-slots.ts';
import { isPlain, OwnExchange } from './own/exchange.ts';
import type { OriginPool } from './pools.ts';
import type { TurnReader } from './read-turns.ts';
import type { RequestBody } from './request-body.ts';
import { MAX_INTERIM } from './response-limits.ts';
import { withoutServerFields } from './server-fields.ts';
import type { SlotUse } from './slot-book.ts';

/**
 * Asks an origin once. Failures of the origin or the network are results; throws or rejects only for a fault of ours.
 */
export function attemptOrigin(pool: OriginPool, request: OriginRequest, tools: AttemptTools): Eventual<AttemptResult> {
  const { client, signal } = request;
  const asking = { client, use: useOf(request), signal, onTakenBack: () => {} };
  return after(pool.slots.ask(asking), (answer) => attemptWith(answer, asking, pool, request, tools));
}

/** `claim` is the claim that the answer belongs to. */
function attemptWith(
  answer: SlotAnswer,
  claim: { onTakenBack: () => void },
  { own, dispatcher }: OriginPool,
  request: OriginRequest,
  tools: AttemptTools,
): Eventual<AttemptResult> {
  if (answer.kind === 'aborted') return answer;
  if (answer.kind === 'denied') {
    const { reason: failure } = answer;
    return { kind: 'failure', failure, detail: DENIED[failure], isSent: false, isReused: false };
  }
  const { slot } = answer;
  if (request.signal.aborted) {
    slot.free();
    return { kind: 'aborted' };
  }
  if (isPlain(request)) {
    const exchange = new OwnExchange(request, tools, slot);
    claim.onTakenBack = exchange.takeBack;
    exchange.start(own);
    return exchange.result;
  }
  const { promise, resolve, reject } = Promise.withResolvers<AttemptResult>();
  const exchange = new Exchange(request, tools, { resolve, reject, slot });
  claim.onTakenBack = exchange.takeBack;
  request.signal.addEventListener('abort', exchange.abort, { once: true });
  dispatcher.dispatch(
    {
      method: request.method,
      path: request.target,
      headers: headersOf(request),
      body: openBody(request, slot),
      upgrade: request.upgrade ?? null,
      // A streaming GET must not delay the pool's other requests.
      blocking: false,
    },
    exchange,
  );
  return promise;
}

const DENIED = {
  originBusy: 'all connections to it are in use',
  originShare: 'its client, or requests of its kind, have their share of the connections to it',
  buffersFull:
    'its body found no room in the buffers, and bodies that are passed on as they arrive have their share of the connections to it',
} as const;

function useOf({ method, body }: OriginRequest): SlotUse {
  if (body === undefined) return method === 'GET' || method === 'HEAD' ? 'read' : 'write';
  return body.lengthBytes === undefined ? 'stream' : 'write';
}

/** A body given as bytes is sent by undici together with the head. */
function openBody({ body }: OriginRequest, slot: OriginSlot): Buffer | Readable | null {
  if (body === undefined || body.lengthBytes === 0) return null;
  return body.bytes ?? Readable.from(readBody(body, slot), { objectMode: false });
}

/** Reads the body. While the client sends nothing, the slot counts as paused: the origin waits for the client. */
async function* readBody(body: RequestBody, slot: OriginSlot): AsyncGenerator<Buffer> {
  const pieces = body.read();
  try {
    for (;;) {
      if (body.lengthBytes === undefined) slot.pause();
      const next = await pieces.next();
      slot.resume();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await pieces.return(undefined);
  }
}

/** A body of known length is sent with `Content-Length`, even if it arrived chunked. */
function headersOf({ headers, body }: OriginRequest): string[] {
  const { lengthBytes } = body ?? {};
  if (lengthBytes === undefined || lengthBytes === 0 || hasField(headers, 'content-length')) return [...headers];
  return [...headers, 'Content-Length', String(lengthBytes)];
}

interface Outcome {
  readonly resolve: (result: AttemptResult) => void;
  readonly reject: (error: Error) => void;
  /** Freed when the exchange is over, its body included. */
  readonly slot: OriginSlot;
}

/** undici's handler for one exchange. Lives as long as the response's body. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: OriginRequest;
  readonly #tools: AttemptTools;
  readonly #outcome: Outcome;
  #controller: Dispatcher.DispatchController | undefined;
  #requestAt: number;
  #body: Readable | undefined;
  #interim = 0;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;
  /** Why the body is not read: until its reader takes the buffered bytes, or until its connection's read turn. */
  readonly #waits = { forReader: false, forTurn: false };
  readonly #turn: TurnReader;

  constructor(request: OriginRequest, tools: AttemptTools, outcome: Outcome) {
    this.#request = request;
    this.#tools = tools;
    this.#outcome = outcome;
    this.#requestAt = tools.clock();
    this.#turn = tools.readTurns.open(() => {
      this.#waits.forTurn = false;
      this.#readOn();
    });
  }

  /** Drops the request. If there is no connection yet, `onRequestStart` checks the signal. */
  readonly abort = (): void => {
    this.#outcome.resolve({ kind: 'aborted' }); // first: undici's error for the abort is no failure of the origin
    this.#controller?.abort(new Error('the request was given up'));
    this.#body?.destroy();
  };

  /** Gives the slot up: the client is slow, and others wait for the connection. */
  readonly takeBack = (): void => {
    const detail = 'the client was too slow for a connection that others waited for';
    if (this.#body === undefined) this.#giveUp('originShare', detail);
    else this.#body.destroy(new TakenBack(detail));
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#requestAt = this.#tools.clock();
    if (this.#request.signal.aborted) controller.abort(new Error('the request was given up'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, _headers: unknown, reason?: string): void {
    const headers = readRawHeaders(controller.rawHeaders);
    if (status < 200) {
      if (status === 101) this.#giveUp('originMalformed', 'a 101 that names no protocol');
      else this.#onInterim(status, headers);
      return;
    }
    clearTimeout(this.#timer);
    // From here on the reader of the body decides: the body may be wanted even after the client has left.
    this.#request.signal.removeEventListener('abort', this.abort);
    const body = this.#openBody(controller);
    this.#body = body;
    const { clock } = this.#tools;
    this.#outcome.resolve({
      kind: 'response',
      response: { status, reason: reason ?? '', headers, body, requestAt: this.#requestAt, responseAt: clock() },
    });
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController, status: number, _headers: unknown, duplex: Duplex): void {
    const socket = socketOf(duplex);
    this.#outcome.slot.free(); // undici opens another connection in its place
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.abort);
    const headers = readRawHeaders(controller.rawHeaders);
    const { clock } = this.#tools;
    this.#outcome.resolve({
      kind: 'response',
      response: {
        status,
        reason: 'Switching Protocols', // undici does not expose the origin's own reason
        headers,
        body: socket,
        upgraded: socket,
        requestAt: this.#requestAt,
        responseAt: clock(),
      },
    });
  }

  #onInterim(status: number, headers: RawHeaders): void {
    this.#interim++;
    if (this.#interim > MAX_INTERIM) {
      this.#giveUp('originMalformed', 'too many interim responses');
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#giveUp('originTimeout', 'nothing but interim responses');
    }, this.#tools.firstByteTimeoutMs);
    this.#request.onInterim(status, headers);
  }

  #giveUp(failure: OriginFailure, detail: string): void {
    this.#outcome.resolve({ kind: 'failure', failure, detail, isSent: true, isReused: false });
    this.#controller?.abort(new Error(detail));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#tools.countBytes(this.#request.domainId, chunk.length);
    this.#waits.forTurn = !this.#turn.note(chunk.length);
    if (this.#body?.push(chunk) === false) {
      this.#waits.forReader = true;
      this.#outcome.slot.pause();
    }
    if (this.#waits.forReader || this.#waits.forTurn) controller.pause();
  }

  #readOn(): void {
    if (!this.#waits.forReader && !this.#waits.forTurn) this.#controller?.resume();
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    this.#outcome.slot.free();
    this.#request.signal.removeEventListener('abort', this.abort);
    this.#body?.push(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#outcome.slot.free();
    this.#request.signal.removeEventListener('abort', this.abort);
    clearTimeout(this.#timer);
    if (this.#body !== undefined) {
      if (isLengthInTrailers(error)) return void this.#body.push(null);
      if (!this.#body.destroyed) this.#request.onCut(error.message);
      this.#body.destroy(error);
      return;
    }
    if (this.#request.body?.isBroken === true) {
      this.#outcome.resolve({ kind: 'aborted' });
      return;
    }
    const failure = readFailure(error);
    // undici refused our request: our fault, not the origin's.
    if (failure === undefined) {
      this.#outcome.reject(error);
      return;
    }
    this.#outcome.resolve({
      kind: 'failure',
      failure,
      detail: error.message,
      isSent: this.#controller !== undefined,
      isReused: this.#tools.pools.isFromReusedConnection(error),
    });
  }

  #openBody(controller: Dispatcher.DispatchController): Readable {
    return new Readable({
      highWaterMark: 64 * 1024, // one read of the socket
      read: () => {
        this.#waits.forReader = false;
        this.#outcome.slot.resume();
        this.#readOn();
      },
      destroy: (error, callback) => {
        // Creating an error with its stack for each body that was read to its end costs 5 % of a miss.
        if (!this.#hasEnded && !controller.aborted)
          controller.abort(error ?? new Error('the response is not wanted any more'));
        callback(error);
      },
    });
  }
}

/**
 * Whether the body was complete when the error arose: the parser found a `Content-Length` in the trailers, where it has
 * no meaning. RFC 9110 §6.5.1
 */
function isLengthInTrailers(error: Error): boolean {
  // The text is llhttp's; undici has no code for it.
  return error instanceof errors.HTTPParserError && error.message.includes("Content-Length can't be present");
}

/** Returns the upgraded connection's socket: undici types it as a stream, but our connector opened it. */
function socketOf(duplex: Duplex): Socket {
  if (duplex instanceof Socket) return duplex;
  throw new Error('an origin is connected to by a socket');
}

/** undici provides names and values as Buffers of the wire's bytes. */
function readRawHeaders(raw: Dispatcher.DispatchController['rawHeaders']): RawHeaders {
  if (!Array.isArray(raw)) return [];
  return withoutServerFields(raw.map((item) => (typeof item === 'string' ? item : item.toString('latin1'))));
}

function readFailure(error: Error): OriginFailure | undefined {
  if (error instanceof ConnectError) return error.failure;
  if (error instanceof errors.HeadersTimeoutError) return 'originTimeout';
  if (error instanceof errors.HeadersOverflowError) return 'originHeaderTooLarge';
  if (error instanceof errors.HTTPParserError) return 'originMalformed';
  if (error instanceof errors.ResponseContentLengthMismatchError) return 'originMalformed';
  // undici's text for an unasked interim or upgrade response.
  if (error instanceof errors.SocketError && /^bad (response|upgrade)$/.test(error.message)) return 'originMalformed';
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) return undefined;
  return 'originReset';
}
