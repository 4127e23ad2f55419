/** One request over HTTP/1, by node:http, and the way its answer goes out. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expectationOf } from '#http/expect.ts';
import { type RawHeaders, withoutHopByHop } from '#http/headers.ts';
import { isOfLine, type SentLine } from '#http/request-lines.ts';
import { type Cancellation, CancellationSource } from '#lib/cancellation.ts';
import { watchUntaken } from '#lib/node-internals/unsent-bytes.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import { resetSocket } from '#lib/reset-socket.ts';
import type { Refusal } from '../../early-refusal.ts';
import { createIncomingBody, type IncomingBody } from '../../incoming-body.ts';
import { type ReceivedRequest, requestHeadBytes } from '../../request.ts';
import type { Secured } from '../../secured.ts';
import { type CutStatus, NOT_IN_INTERIM, type Viewer } from '../../viewer.ts';
import type { Client } from '../proxies.ts';
import { sendRefusal } from './parser-error.ts';

export interface Http1ViewerOptions {
  readonly client: Client;
  readonly secured: Secured | undefined;
  /** `undefined`: as the parser says. */
  readonly line: SentLine | undefined;
  /** Longest wait for the next piece of a request body, and for room in a client that reads slowly. */
  readonly idleTimeoutMs: number;
  readonly maxRequestBodyBytes: number;
  /** The protocol that the request asks for, where the connection may be handed over to it. */
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
  /** Bytes written to the connection before and after this answer; it may carry several. */
  #bytesBefore: number | undefined;
  #bytesAfter: number | undefined;
  /** When it was cut. */
  #neverTakenBytes = 0;
  #body: IncomingBody | undefined;
  #statusSent = 0;
  #head: { readonly status: number; readonly reason: string; readonly headers: RawHeaders } | undefined;
  #refusal: Refusal | undefined;
  #cutStatus: CutStatus | undefined;
  #isFinished = false;
  /** Bytes read from the connection before it was given away. */
  #readBefore: number | undefined;

  constructor(message: IncomingMessage, response: ServerResponse, options: Http1ViewerOptions) {
    this.#message = message;
    this.#response = response;
    this.#options = options;
    this.#socket = message.socket;
    this.received = readReceived(message, options);
    this.#expectsContinue = expectationOf(this.received.headers, this.received.httpVersion) === 'continue';
    this.signal = this.#gone;
    response.sendDate = false; // Date is the origin's, or set where the answer is made
    if (response.socket !== null) this.#bytesBefore = this.#socket.bytesWritten;
    // A pipelined request's answer gets the socket when those before it are out.
    response.once('socket', () => {
      this.#bytesBefore = this.#socket.bytesWritten;
    });
    // Before Node's own listener hands the socket to the next answer.
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
    // An answer's own listener is on the body or the response; without one an error would end the process.
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

  /** The whole request is here. */
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
        // RFC 9110 §10.1.1: only now does anyone want the body
        if (this.#expectsContinue && this.#statusSent === 0) this.#response.writeContinue();
      },
    });
    return this.#body;
  }

  /** RFC 9110 §15.2: not to HTTP/1.0. */
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
    this.#socket.removeAllListeners('readable'); // whoever takes it reads by its own means
    this.#readBefore = this.#socket.bytesRead - this.#socket.readableLength;
    return this.#socket;
  }

  #writeHead(): void {
    if (this.#head === undefined) return;
    const { status, reason, headers } = this.#head;
    this.#head = undefined;
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
    // To node:http a connection whose answer was ended has nothing to do, and ends with the server.
    await this.drained();
    if (this.isGone) return;
    this.#response.end();
    await this.#wait('finish');
  }

  async #wait(event: 'drain' | 'finish'): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#response.once(event, resolve);
    this.#response.once('close', resolve);
    // The socket's own timer sees progress inside a large write. An answer that has no socket yet waits for others.
    if (this.#response.socket !== null) this.#socket.setTimeout(this.#options.idleTimeoutMs);
    await promise;
    this.#response.off(event, resolve);
    this.#response.off('close', resolve);
  }

  /** Answers a request that turned out to be malformed while it arrived. Nothing else is sent after it. */
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
    if (this.#options.secured === undefined) this.#neverTakenBytes = watchUntaken(this.#socket).bytes;
    // Without a length or chunks, a connection that ends in order says that the body is whole. RFC 9112 §8
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
  { line, client, secured, upgrade }: Http1ViewerOptions,
): ReceivedRequest {
  const { method = '', url = '', rawHeaders: headers } = message;
  const isMalformed = line !== undefined && !isOfLine(line, method, url);
  const httpVersion = message.httpVersion === '1.0' ? '1.0' : '1.1';
  return {
    method,
    // Of a target that is too long the line has the beginning.
    target: line === undefined || isMalformed ? url : line.target + url.slice(line.target.length),
    httpVersion,
    headers,
    ...(isMalformed && { problem: 'malformed' as const }),
    hasUnknownVersion: message.httpVersion !== '1.1' && message.httpVersion !== '1.0',
    isTls: client.isTls,
    secured,
    clientAddress: client.address,
    hasUnknownExpectation: expectationOf(headers, httpVersion) === 'unknown',
    upgrade,
  };
}
