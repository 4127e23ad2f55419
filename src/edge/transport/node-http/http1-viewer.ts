/** One request over HTTP/1 that node:http parsed, and its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expectationOf } from '#http/expect.ts';
import { type RawHeaders, withoutHopByHop } from '#http/headers.ts';
import { isOfLine, type SentLine } from '#http/request-lines.ts';
import { type Cancellation, CancellationSource } from '#lib/cancellation.ts';
import { steadyClock } from '#lib/clock.ts';
import { Untaken } from '#lib/node-internals/unsent-bytes.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import { resetSocket } from '#lib/reset-socket.ts';
import type { Refusal } from '../../early-refusal.ts';
import { createIncomingBody, type IncomingBody } from '../../incoming-body.ts';
import { type ReceivedRequest, requestHeadBytes } from '../../request.ts';
import type { Secured } from '../../secured.ts';
import type { TierRequest } from '../../tier-fields.ts';
import { type CutStatus, NOT_IN_INTERIM, type Viewer } from '../../viewer.ts';
import type { Client } from '../proxies.ts';
import { sendRefusal } from './parser-error.ts';

export interface Http1ViewerOptions {
  readonly client: Client;
  readonly secured: Secured | undefined;
  /** See `ReceivedRequest`. */
  readonly tier?: TierRequest;
  /** The request line as sent; `undefined` if the parser's view is used. */
  readonly line: SentLine | undefined;
  /** Longest wait for the next piece of a request body, and for a slow client to take bytes. */
  readonly idleTimeoutMs: number;
  readonly maxRequestBodyBytes: number;
  /** The requested protocol, if the connection may be handed over to it. */
  readonly upgrade?: 'websocket' | undefined;
}

export class Http1Viewer implements Viewer {
  readonly received: ReceivedRequest;
  readonly signal: Cancellation;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #options: Http1ViewerOptions;
  readonly #expectsContinue: boolean;
  readonly #gone = new CancellationSource();
  readonly #socket: Socket;
  /** Bytes written to the connection before and after this answer; a connection may carry several. */
  #bytesBefore: number | undefined;
  #bytesAfter: number | undefined;
  /** Bytes that the system had not taken when the answer was cut. */
  #neverTakenBytes = 0;
  #body: IncomingBody | undefined;
  begunAt: number | undefined;
  #statusSent = 0;
  #head: { readonly status: number; readonly reason: string; readonly headers: RawHeaders } | undefined;
  #refusal: Refusal | undefined;
  #cutStatus: CutStatus | undefined;
  #isFinished = false;
  /** Bytes read from the connection before it was handed over. */
  #readBefore: number | undefined;

  constructor(message: IncomingMessage, response: ServerResponse, options: Http1ViewerOptions) {
    this.#message = message;
    this.#response = response;
    this.#options = options;
    this.#socket = message.socket;
    this.received = readReceived(message, options);
    this.#expectsContinue = expectationOf(this.received.headers, this.received.httpVersion) === 'continue';
    this.signal = this.#gone;
    response.sendDate = false; // the origin sets Date, or the stage that makes the answer
    if (response.socket !== null) this.#bytesBefore = this.#socket.bytesWritten;
    // A pipelined request's answer gets the socket after those before it.
    response.once('socket', () => {
      this.#bytesBefore = this.#socket.bytesWritten;
    });
    // Must run before Node's own listener hands the socket to the next answer.
    response.prependOnceListener('finish', () => {
      this.#isFinished = true;
      this.#bytesAfter = this.#socket.bytesWritten;
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    response.once('close', () => {
      resolve();
      if (!this.#isFinished) this.#gone.abort();
    });
    // Other listeners may be missing, and an unhandled error event would end the process.
    message.on('error', () => undefined);
    response.on('error', () => undefined);
    response.on('timeout', () => this.#socket.destroy());
  }

  get statusSent(): number {
    return this.#statusSent;
  }

  get isGone(): boolean {
    return this.#gone.aborted;
  }

  /** Whether the whole request has arrived. */
  get isReceived(): boolean {
    return this.#message.complete;
  }

  readonly ended: Promise<void>;

  get isFinished(): boolean {
    return this.#isFinished;
  }

  get receivedBytes(): number {
    const behind = this.#readBefore === undefined ? 0 : this.#socket.bytesRead - this.#readBefore;
    return requestHeadBytes(this.received) + (this.#body?.sizeBytes ?? 0) + behind;
  }

  get sentBytes(): number {
    if (this.#bytesBefore === undefined) return 0;
    return (this.#bytesAfter ?? this.#socket.bytesWritten - this.#neverTakenBytes) - this.#bytesBefore;
  }

  get maxBodyBytes(): number {
    return this.#options.maxRequestBodyBytes;
  }

  openBody(): IncomingBody {
    this.#body ??= createIncomingBody(this.#message, {
      maxBytes: this.#options.maxRequestBodyBytes,
      idleTimeoutMs: this.#options.idleTimeoutMs,
      onStart: () => {
        // The body is wanted from here on. RFC 9110 §10.1.1
        if (this.#expectsContinue && this.#statusSent === 0) this.#response.writeContinue();
      },
    });
    return this.#body;
  }

  /** Sends an interim response; not to HTTP/1.0 clients. RFC 9110 §15.2 */
  sendInterim(status: number, headers: RawHeaders): void {
    if (this.#statusSent !== 0 || this.isGone || this.received.httpVersion === '1.0') return;
    if (this.#response.writableLength > 0) return;
    this.#response.writeInformation(status, withoutHopByHop(headers, NOT_IN_INTERIM));
  }

  sendHead(status: number, reason: string, headers: RawHeaders, isEndless = false): void {
    if (this.isGone || this.isBegun) return;
    if (isEndless) this.#response.useChunkedEncodingByDefault = false;
    this.#head = { status, reason, headers };
    this.#statusSent = status;
  }

  get isBegun(): boolean {
    return this.#response.headersSent;
  }

  switchProtocols(): Socket | undefined {
    if (this.isGone || this.isBegun) return undefined;
    this.#writeHead();
    this.#response.flushHeaders();
    this.#isFinished = true;
    this.#socket.removeAllListeners('readable'); // the new owner reads by its own means
    this.#readBefore = this.#socket.bytesRead - this.#socket.readableLength;
    return this.#socket;
  }

  #writeHead(): void {
    if (this.#head === undefined) return;
    const { status, reason, headers } = this.#head;
    this.#head = undefined;
    this.begunAt = steadyClock();
    this.#response.writeHead(status, reason, [...headers]);
  }

  write(chunk: Buffer): boolean {
    if (this.isGone) return true;
    this.#writeHead();
    return this.#response.write(chunk);
  }

  writeLent(chunk: Buffer): boolean {
    return this.write(ownBytes([chunk]));
  }

  get queuedBytes(): number {
    return this.#response.writableLength;
  }

  async drained(): Promise<void> {
    if (this.isGone || !this.#response.writableNeedDrain || this.queuedBytes === 0) return;
    await this.#wait('drain');
    if (!this.#isFinished) this.#socket.setTimeout(0);
  }

  async end(): Promise<void> {
    if (this.isGone || this.#isFinished) return;
    this.#writeHead();
    // node:http considers a connection idle once its answer was ended, and closes it with the server. So wait until the
    // answer is sent.
    await this.drained();
    if (this.isGone) return;
    this.#response.end();
    await this.#wait('finish');
  }

  async #wait(event: 'drain' | 'finish'): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#response.once(event, resolve);
    this.#response.once('close', resolve);
    // The socket's own timer also notices progress inside a large write. An answer without a socket waits for earlier
    // ones.
    if (this.#response.socket !== null) this.#socket.setTimeout(this.#options.idleTimeoutMs);
    await promise;
    this.#response.off(event, resolve);
    this.#response.off('close', resolve);
  }

  /** Refuses a request that turned out to be malformed while it arrived. Nothing else is sent after it. */
  refuse(refusal: Refusal, now: number): void {
    if (this.isGone) return;
    this.#refusal = refusal;
    sendRefusal(this.#socket, refusal, now);
    this.#gone.abort();
  }

  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  cut(status: CutStatus): void {
    if (!this.isGone && !this.#isFinished) this.#cutStatus = status;
    if (this.#options.secured === undefined) this.#neverTakenBytes = new Untaken(this.#socket).bytes;
    // An orderly end of the connection would mark a body without length or chunks as complete. RFC 9112 §8
    if (this.received.httpVersion !== '1.0') this.#socket.destroy();
    else if (this.#options.secured !== undefined) this.#options.secured.reset();
    else resetSocket(this.#socket, this.#socket);
  }

  get cutStatus(): CutStatus | undefined {
    return this.#cutStatus;
  }
}

function readReceived(
  message: IncomingMessage,
  { line, client, secured, tier, upgrade }: Http1ViewerOptions,
): ReceivedRequest {
  const { method = '', url = '', rawHeaders: headers } = message;
  const isMalformed = line !== undefined && !isOfLine(line, method, url);
  const httpVersion = message.httpVersion === '1.0' ? '1.0' : '1.1';
  return {
    method,
    // For a very long target the line has only its beginning.
    target: line === undefined || isMalformed ? url : line.target + url.slice(line.target.length),
    httpVersion,
    headers,
    ...(isMalformed && { problem: 'malformed' as const }),
    hasUnknownVersion: message.httpVersion !== '1.1' && message.httpVersion !== '1.0',
    isTls: client.isTls,
    secured,
    tier,
    clientAddress: client.address,
    hasUnknownExpectation: expectationOf(headers, httpVersion) === 'unknown',
    upgrade,
  };
}
