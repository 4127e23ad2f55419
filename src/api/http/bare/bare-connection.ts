/**
 * One connection to control: its calls are answered one after the other, and with the first request that our reader does not take the
 * connection goes to node:http, bytes untouched, and stays there. docs/decisions/0380
 * Brings 15 to 28 % of a message (`npm run bench -- sms`). docs/decisions/0527
 */
import type { Socket } from 'node:net';
import { ROUTES } from '#contract/routes.ts';
import { AnswerWriter } from '#lib/answer-writer.ts';
import { ByteConversation, type ConversationOptions, type ConversationOwner } from '#lib/byte-conversation.ts';
import { steadyClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { OpenDirectWrite } from '#lib/node-internals/direct-write.ts';
import type { HttpReader } from '#lib/node-internals/http-reader.ts';
import type { CallAnswer } from '../../call-answer.ts';
import type { ReceivedCall } from '../../calls/calls.ts';
import type { AnswerBroken } from '../broken-request.ts';
import type { AppParts } from '../fastify-app.ts';
import { KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from '../limits.ts';
import { type ReadCall, readCall } from './read-call.ts';
import type { FormatAnswer } from './write-answer.ts';

/** What all connections share. */
export interface BareParts extends Omit<AppParts, 'options' | 'count' | 'lines' | 'security' | 'watches' | 'previews'> {
  readonly formatAnswer: FormatAnswer;
  readonly log: Logger;
  readonly conversation: ConversationOptions;
  readonly openDirectWrite: OpenDirectWrite;
  /** Hands the connection over to node:http, which reads on from here. */
  readonly giveAway: HttpReader;
  /** The connection was handed over, or closed. */
  onLeft(connection: BareConnection): void;
}

export class BareConnection implements ConversationOwner {
  readonly #socket: Socket;
  readonly #parts: BareParts;
  readonly #peer: string | undefined;
  readonly #outlet: AnswerWriter;
  readonly #conversation: ByteConversation;
  /** Completions of answers that had to wait, in order: they are logged when they have been sent. */
  readonly #onTheirWay: (() => void)[] = [];
  /** No call has come yet. */
  #isFresh = true;
  /** Size of the incomplete call. */
  #heldBytes = 0;

  constructor(socket: Socket, parts: BareParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#peer = socket.remoteAddress;
    this.#outlet = new AnswerWriter(socket, parts.openDirectWrite(socket), this.#onOut);
    socket.on('error', ignore);
    this.#conversation = new ByteConversation(socket, this, parts.conversation);
  }

  read(given: Buffer): void {
    const all = this.#isFresh ? given : withoutEmptyLines(given);
    this.#noteHeld(0);
    if (all.length === 0) return void this.#conversation.wait();
    const call = readCall(all);
    if (typeof call === 'object') return void this.#answer(call, all); // never rejects
    // Beyond the limit for all incomplete calls node:http refuses.
    this.#conversation.keepPartial(all, call === 'incomplete' && this.#noteHeld(all.length));
  }

  #noteHeld(bytes: number): boolean {
    const before = this.#heldBytes;
    this.#heldBytes = bytes;
    return this.#parts.held.change(before, bytes);
  }

  async #answer(call: ReadCall, bytes: Buffer): Promise<void> {
    this.#isFresh = false;
    const beganAt = steadyClock();
    const { name, requestId, isLast: _isLast, bodyStart, end, ...said } = call;
    const body = this.#parts.parseBody(bytes.subarray(bodyStart, end));
    this.#conversation.begin(bytes.subarray(end));
    const requester = { peer: this.#peer, ...said };
    const received = { name, body, requester, requestId };
    try {
      this.#send(await this.#parts.answerCall(received), { ...received, call, beganAt });
    } catch (error) {
      this.#parts.log.error({ err: error, requestId: received.requestId }, 'cannot send a response');
      this.#socket.destroy();
    }
  }

  #send(answer: CallAnswer, { call, beganAt, body, requester, requestId }: AnsweringCall): void {
    const { requesters, formatAnswer, writeRequestLog, conversation } = this.#parts;
    const isLast = call.isLast || conversation.isClosing();
    const address = requesters.addressOf(requester);
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
    if (!isLast) this.#conversation.next();
    else if (!this.#conversation.isOver) this.#conversation.end();
  }

  readonly #onOut = (): void => this.#onTheirWay.shift()?.();

  #refuse(error: Parameters<AnswerBroken>[0]): void {
    this.#noteHeld(0);
    this.#parts.answerBroken(error, this.#socket);
    this.#conversation.end();
  }

  onPartialEnded(): void {
    this.#refuse({});
  }

  onHandedOver(rest: Buffer): void {
    this.#noteHeld(0);
    this.#socket.off('error', ignore);
    this.#parts.onLeft(this);
    this.#parts.giveAway(this.#socket, rest);
  }

  onClosed(): void {
    this.#noteHeld(0);
    this.#parts.onLeft(this);
  }

  onQuiet(quietMs: number): void {
    if (!this.#isFresh) {
      if (quietMs >= KEEP_ALIVE_MS) this.#conversation.end();
    } else if (quietMs >= REQUEST_TIMEOUT_MS) this.#refuse({ code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  }

  sweep(sweepMs: number): void {
    this.#conversation.sweep(sweepMs);
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** No new calls are answered. */
  close(): void {
    this.#conversation.close();
  }
}

interface AnsweringCall extends ReceivedCall {
  readonly call: ReadCall;
  readonly beganAt: number;
}

/** Some clients send one behind a body. RFC 9112 §2.2 */
function withoutEmptyLines(bytes: Buffer): Buffer {
  let at = 0;
  while (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) at += 2;
  return bytes.subarray(at);
}

function ignore(): void {} // shows as closed
