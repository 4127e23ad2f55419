/**
 * The conversation on one connection to control: its calls are answered one after the other, and with the first request that is not
 * for our reader the connection goes to node:http, bytes untouched, and stays there. docs/decisions/0380
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { ROUTES } from '#contract/routes.ts';
import { steadyClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { OpenDirectWrite } from '#lib/node-internals/direct-write.ts';
import type { HttpReader } from '#lib/node-internals/http-reader.ts';
import { pause, type SharedReading } from '#lib/node-internals/shared-reading.ts';
import { Outlet } from '#lib/outlet.ts';
import type { Answer } from '../answer.ts';
import type { Askers } from '../asker.ts';
import type { ParseBody } from '../body.ts';
import type { AnswerBroken } from '../broken-request.ts';
import type { AnswerCall, ReceivedCall } from '../calls.ts';
import type { HeldBytes } from '../held-bytes.ts';
import { KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from '../limits.ts';
import type { WriteRequestLog } from '../request-log.ts';
import { type Call, readCall } from './read-call.ts';
import type { FormatAnswer } from './write-answer.ts';

/** What all connections share. */
export interface BareParts {
  readonly askers: Askers;
  readonly answerCall: AnswerCall;
  readonly parseBody: ParseBody;
  readonly held: HeldBytes;
  readonly formatAnswer: FormatAnswer;
  readonly writeRequestLog: WriteRequestLog;
  readonly answerBroken: AnswerBroken;
  readonly log: Logger;
  readonly reading: SharedReading;
  readonly openDirectWrite: OpenDirectWrite;
  isClosing(): boolean;
  /** Hands the connection over to node:http, which reads on from here. */
  readonly giveAway: HttpReader;
  /** The connection was handed over, or closed. */
  onLeft(connection: BareConnection): void;
}

/** A call that comes in more is read again too often. Many clients send head and body in one each. */
const MAX_PIECES = 4;
/** Time for the rest of a call. */
const PATIENCE_MS = 1_000;

export class BareConnection {
  readonly #socket: Socket;
  readonly #parts: BareParts;
  readonly #peer: string | undefined;
  readonly #outlet: Outlet;
  /** Completions of answers that had to wait, in order: they are logged when they have been sent. */
  readonly #onTheirWay: (() => void)[] = [];
  /** No call has come yet. */
  #isFresh = true;
  /** A call is being answered, or the next one waits for its turn. */
  #isBusy = false;
  /** Read, and not looked at or not whole yet. */
  #rest: Buffer | undefined;
  /** Pieces in which the beginning of a call has arrived. */
  #pieces = 0;
  /** Bytes of that beginning. */
  #heldBytes = 0;
  /** Nothing is read. */
  #isHeld = false;
  /** Answers have piled up, for the client takes none. */
  #isStalled = false;
  /** The client has ended its side. */
  #hasEnded = false;
  /** We answer nothing more on it. */
  #isOver = false;
  /** Time since the connection last had something to do. */
  #quietMs = 0;

  constructor(socket: Socket, parts: BareParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#peer = socket.remoteAddress;
    this.#outlet = new Outlet(socket, parts.openDirectWrite(socket), this.#onOut);
    socket.on('error', ignore);
    socket.on('close', this.#onClose);
    socket.on('drain', this.#onDrain);
    socket.on('end', this.#onEnd);
    socket.on('data', this.#onData);
    parts.reading.begin(socket, this.#onData);
  }

  /** `bytes` may be somebody else's behind this call. */
  readonly #onData = (bytes: Buffer): void => {
    if (this.#isOver) return;
    const all = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#isBusy) this.#hold(all);
    else this.#answerFrom(all);
  };

  #answerFrom(given: Buffer): void {
    const all = this.#isFresh ? given : withoutEmptyLines(given);
    this.#rest = undefined;
    this.#noteHeld(0);
    if (all.length === 0) return void this.#wait();
    const call = readCall(all);
    if (typeof call === 'object') return void this.#answer(call, all); // never rejects
    this.#rest = this.#parts.reading.keep(all);
    // What is too much of all that is held node:http refuses.
    if (call === 'other' || ++this.#pieces > MAX_PIECES || !this.#noteHeld(all.length)) this.#giveAway();
    else this.#wait();
  }

  #noteHeld(bytes: number): boolean {
    const before = this.#heldBytes;
    this.#heldBytes = bytes;
    return this.#parts.held.change(before, bytes);
  }

  async #answer(call: Call, bytes: Buffer): Promise<void> {
    this.#isBusy = true;
    this.#isFresh = false;
    this.#pieces = 0;
    const beganAt = steadyClock();
    const { name, isLast: _isLast, bodyStart, end, ...said } = call;
    const body = this.#parts.parseBody(bytes.subarray(bodyStart, end));
    if (end < bytes.length) this.#hold(bytes.subarray(end));
    const asker = { peer: this.#peer, ...said };
    const received = { name, body, asker, requestId: randomUUID() };
    try {
      this.#send(await this.#parts.answerCall(received), { ...received, call, beganAt });
    } catch (error) {
      this.#parts.log.error({ err: error, requestId: received.requestId }, 'an answer was not sent');
      this.#socket.destroy();
    }
  }

  #send(answer: Answer, { call, beganAt, body, asker, requestId }: AnsweringCall): void {
    const { askers, formatAnswer, writeRequestLog, isClosing } = this.#parts;
    const isLast = call.isLast || isClosing();
    const address = askers.addressOf(asker);
    const log = () =>
      writeRequestLog({
        requestId,
        path: ROUTES[call.name].path,
        address,
        answer,
        body,
        durationMs: steadyClock() - beganAt,
      });
    if (this.#outlet.send(formatAnswer(answer, requestId, isLast), [])) log();
    else this.#onTheirWay.push(log);
    if (this.#isOver) return;
    if (isLast) return void this.#end();
    this.#isStalled = this.#socket.writableNeedDrain;
    if (!this.#isStalled) this.#next();
  }

  readonly #onOut = (): void => this.#onTheirWay.shift()?.();

  /** Others have their turn before what is here already. */
  #next(): void {
    if (this.#rest === undefined) this.#wait();
    else setImmediate(this.#goOn);
  }

  readonly #goOn = (): void => {
    if (!this.#isOver) this.#answerFrom(this.#rest ?? NOTHING);
  };

  /** Waits for what the client sends next. */
  #wait(): void {
    this.#isBusy = false;
    this.#quietMs = 0;
    if (this.#hasEnded && this.#rest !== undefined) return void this.#refuse({});
    if (this.#hasEnded || this.#parts.isClosing()) return void this.close();
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#socket.resume();
  }

  #hold(all: Buffer): void {
    this.#rest = this.#parts.reading.keep(all);
    this.#isHeld = true;
    pause(this.#socket);
  }

  #refuse(error: Parameters<AnswerBroken>[0]): void {
    this.#parts.answerBroken(error, this.#socket);
    this.#end();
  }

  /** What was given to the socket still goes out. */
  #end(): void {
    this.#isOver = true;
    this.#rest = undefined;
    this.#noteHeld(0);
    this.#socket.destroySoon();
  }

  #giveAway(): void {
    const socket = this.#socket;
    this.#isOver = true;
    this.#noteHeld(0);
    pause(socket);
    this.#parts.reading.end(socket);
    socket.off('error', ignore).off('close', this.#onClose).off('drain', this.#onDrain);
    socket.off('end', this.#onEnd).off('data', this.#onData);
    this.#parts.onLeft(this);
    this.#parts.giveAway(socket, this.#rest ?? NOTHING);
  }

  readonly #onDrain = (): void => {
    if (!this.#isStalled) return;
    this.#isStalled = false;
    if (!this.#isOver) this.#next();
  };

  /** The client says no more; it may still read. */
  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (!this.#isBusy && !this.#isOver) this.#wait();
  };

  readonly #onClose = (): void => {
    this.#isOver = true;
    this.#noteHeld(0);
    this.#parts.onLeft(this);
  };

  /** The clock for connections with nothing to do; `sweepMs` since the last time. */
  sweep(sweepMs: number): void {
    if (this.#isBusy || this.#isOver) return;
    this.#quietMs += sweepMs;
    if (this.#rest !== undefined) {
      // A call that takes long has node:http's limits and refusals.
      if (this.#quietMs > PATIENCE_MS) this.#giveAway();
    } else if (this.#isFresh) {
      if (this.#quietMs > REQUEST_TIMEOUT_MS) this.#refuse({ code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    } else if (this.#quietMs > KEEP_ALIVE_MS) this.#end();
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** Nothing new is answered. */
  close(): void {
    if (this.#isBusy || this.#isOver) return;
    if (this.#rest === undefined) this.#end();
    else this.#giveAway();
  }
}

interface AnsweringCall extends ReceivedCall {
  readonly call: Call;
  readonly beganAt: number;
}

const NOTHING = Buffer.alloc(0);

/** Some clients send one behind a body. RFC 9112 §2.2 */
function withoutEmptyLines(bytes: Buffer): Buffer {
  let at = 0;
  while (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) at += 2;
  return bytes.subarray(at);
}

function ignore(): void {} // shows as closed
