/**
 * One request to one origin on a connection of our own client: turns the connection's notifications into the result of
 * an attempt.
 */
import { formatRequest } from '#http/head-text.ts';
import type { RawHeaders } from '#http/headers.ts';
import { Future } from '#lib/future.ts';
import { type AttemptResult, type AttemptTools, type OriginRequest, TakenBack } from '../origin-request.ts';
import type { OriginSlot } from '../origin-slots.ts';
import type { TurnReader } from '../read-turns.ts';
import { withoutServerFields } from '../server-fields.ts';
import type { OwnBody } from './body.ts';
import type { OwnHandler, RequestFailure } from './connection.ts';
import type { OwnPool, PoolTurn } from './pool.ts';
import type { ParsedHead } from './response-reader.ts';

/** Whether our own client handles the request: only its head is sent, and only a response is expected. */
export function isPlain({ method, body, upgrade }: OriginRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && body === undefined && upgrade === undefined;
}

/** Frees `slot` when the exchange is over, its body included. */
export class OwnExchange implements OwnHandler {
  readonly #request: OriginRequest;
  readonly #tools: AttemptTools;
  readonly #slot: OriginSlot;
  readonly #turn: TurnReader;
  readonly result = new Future<AttemptResult>();
  #asked: PoolTurn | undefined;
  #body: OwnBody | undefined;
  #requestAt = 0;

  constructor(request: OriginRequest, tools: AttemptTools, slot: OriginSlot) {
    this.#request = request;
    this.#tools = tools;
    this.#slot = slot;
    this.#turn = tools.readTurns.open(() => this.#body?.goOn());
  }

  /** Sends the request. Throws if it cannot be formatted, which is a fault of ours. */
  start(pool: OwnPool): void {
    const { method, needsFresh = false, signal } = this.#request;
    const bytes = this.#formatRequest();
    signal.addEventListener('abort', this.#abort, { once: true });
    this.#asked = pool.ask({ bytes, isHead: method === 'HEAD', needsFresh }, this);
  }

  #formatRequest(): Buffer {
    const { method, target, headers } = this.#request;
    try {
      return Buffer.from(formatRequest(method === 'HEAD' ? 'HEAD' : 'GET', target, headers, KEEP_ALIVE), 'latin1');
    } catch (error) {
      this.#slot.free();
      throw error;
    }
  }

  readonly #abort = (): void => this.#giveUp({ kind: 'aborted' });

  /** Must be called only before the head has arrived. */
  #giveUp(result: AttemptResult): void {
    this.#asked?.cancel();
    this.#leave();
    this.result.resolve(result);
  }

  /** Gives the slot up: the client is slow, and others wait for the connection. */
  readonly takeBack = (): void => {
    const detail = 'the client was too slow for a connection that others waited for';
    if (this.#body !== undefined) this.#body.destroy(new TakenBack(detail));
    else this.#giveUp({ kind: 'failure', failure: 'originShare', detail, isSent: true, isReused: false });
  };

  #leave(): void {
    this.#request.signal.removeEventListener('abort', this.#abort);
    this.#slot.free();
  }

  onSent(): void {
    this.#requestAt = this.#tools.clock();
  }

  onInterim(status: number, headers: RawHeaders): void {
    this.#request.onInterim(status, withoutServerFields(headers));
  }

  /** The reader of the body decides from here on: the body may be wanted even after the client has left. */
  onHead({ status, reason, headers }: ParsedHead, body: OwnBody): void {
    this.#body = body;
    this.#request.signal.removeEventListener('abort', this.#abort);
    this.result.resolve({
      kind: 'response',
      response: {
        status,
        reason,
        headers: withoutServerFields(headers),
        body,
        requestAt: this.#requestAt,
        responseAt: this.#tools.clock(),
      },
    });
  }

  onFailure({ failure, detail, isSent, isIdleClose: isReused }: RequestFailure): void {
    this.#leave();
    this.result.resolve({ kind: 'failure', failure, detail, isSent, isReused });
  }

  onBytes(count: number): void {
    this.#tools.countBytes(this.#request.domainId, count);
    if (!this.#turn.note(count)) this.#body?.waitForTurn();
  }

  onWait(isWaiting: boolean): void {
    if (isWaiting) this.#slot.pause();
    else this.#slot.resume();
  }

  onOver(cut: string | undefined): void {
    this.#slot.free();
    if (cut !== undefined) this.#request.onCut(cut);
  }
}

/** Some HTTP/1.0 servers keep a connection open only if asked to. RFC 9112 §C.2.2 */
const KEEP_ALIVE = 'Connection: keep-alive\r\n';
