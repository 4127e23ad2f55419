/** One request over HTTP/2, a stream of its connection by node:http2, and the way its answer goes out. */
import { constants, type ServerHttp2Stream } from 'node:http2';
import { formatDate } from '#http/dates.ts';
import { type RawHeaders, withoutHopByHop } from '#http/headers.ts';
import type { Clock } from '#lib/clock.ts';
import { createRequestBody, type RequestBody } from '../origin/request-body.ts';
import type { Refusal } from '../parser-error.ts';
import { formatMark } from '../reasons.ts';
import { type ReceivedRequest, requestHeadBytes } from '../request.ts';
import { NOT_IN_INTERIM, type Viewer } from '../viewer.ts';
import { headFields } from './head-fields.ts';

export interface Http2ViewerOptions {
  readonly expectsContinue: boolean;
  /** The header section was all of it. */
  readonly isWhole: boolean;
  /** Longest wait for the next piece of a request body, and for room in a client that reads slowly. */
  readonly idleTimeoutMs: number;
  /** For the whole request. */
  readonly requestMs: number;
  readonly maxRequestBodyBytes: number;
  readonly clock: Clock;
}

export class Http2Viewer implements Viewer {
  readonly received: ReceivedRequest;
  readonly signal: AbortSignal;
  readonly ended: Promise<void>;
  readonly #stream: ServerHttp2Stream;
  readonly #options: Http2ViewerOptions;
  readonly #gone = new AbortController();
  #body: RequestBody | undefined;
  #statusSent = 0;
  #head: { readonly status: number; readonly headers: RawHeaders } | undefined;
  /** The answer has no body, whatever is written: the head ended it. */
  #isBodiless = false;
  #headBytes = 0;
  #bodyBytes = 0;
  #refusal: Refusal | undefined;
  #cutStatus: number | undefined;
  #isFinished = false;

  constructor(stream: ServerHttp2Stream, received: ReceivedRequest, options: Http2ViewerOptions) {
    this.#stream = stream;
    this.#options = options;
    this.received = received;
    this.signal = this.#gone.signal;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    stream.once('finish', () => this.#noteFinish());
    stream.once('close', () => {
      resolve();
      if (!this.#isFinished) this.#gone.abort();
    });
    stream.on('error', ignore);
    stream.on('timeout', () => this.#reset('it takes nothing'));
    if (!options.isWhole) this.#limitArrival();
  }

  get statusSent(): number {
    return this.#statusSent;
  }

  get isGone(): boolean {
    return this.#gone.signal.aborted;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** As it would be over HTTP/1.1: how much of it the compression of fields saved is the connection's. */
  get receivedBytes(): number {
    return requestHeadBytes(this.received) + (this.#body?.sizeBytes ?? 0);
  }

  /** In the same way. */
  get sentBytes(): number {
    return this.#headBytes + this.#bodyBytes - (this.#isFinished ? 0 : this.#stream.writableLength);
  }

  get maxBodyBytes(): number {
    return this.#options.maxRequestBodyBytes;
  }

  openBody(): RequestBody {
    this.#body ??= createRequestBody(this.#stream, {
      maxBytes: this.#options.maxRequestBodyBytes,
      idleTimeoutMs: this.#options.idleTimeoutMs,
      onStart: () => {
        // RFC 9110 §10.1.1: only now does anyone want the body
        if (this.#options.expectsContinue) this.sendInterim(100, []);
      },
    });
    return this.#body;
  }

  sendInterim(status: number, headers: RawHeaders): void {
    if (this.#statusSent !== 0 || this.isGone || this.#stream.closed) return;
    const fields = new Map<string, string[]>();
    const kept = withoutHopByHop(headers, NOT_IN_INTERIM);
    for (let i = 0; i < kept.length; i += 2) {
      const name = (kept[i] ?? '').toLowerCase();
      fields.set(name, [...(fields.get(name) ?? []), kept[i + 1] ?? '']);
    }
    this.#stream.additionalHeaders({ ...Object.fromEntries(fields), ':status': status });
  }

  sendHead(status: number, _reason: string, headers: RawHeaders): void {
    if (this.isGone || this.isBegun) return;
    // Node sends no other numbers, and clients are to take them for this one. RFC 9110 §15
    const sent = status > 599 ? 500 : status;
    this.#head = { status: sent, headers };
    this.#statusSent = sent;
  }

  get isBegun(): boolean {
    return this.#stream.headersSent;
  }

  /** There is no 101 in HTTP/2, and requests that ask for one are not taken for such. RFC 9113 §8.6 */
  switchProtocols(): undefined {
    return undefined;
  }

  #writeHead(endStream: boolean): void {
    if (this.#head === undefined || this.#stream.closed) return;
    const { status, headers } = this.#head;
    this.#head = undefined;
    const { method } = this.received;
    const { fields, headBytes } = headFields(status, headers);
    this.#headBytes = headBytes;
    this.#isBodiless = endStream || method === 'HEAD' || status === 204 || status === 205 || status === 304;
    this.#stream.respond(fields, { endStream: this.#isBodiless });
  }

  write(chunk: Buffer): boolean {
    if (this.isGone) return true;
    this.#writeHead(false);
    if (this.#isBodiless || this.#stream.closed) return true;
    this.#bodyBytes += chunk.length;
    return this.#stream.write(chunk);
  }

  get queuedBytes(): number {
    return this.#stream.writableLength;
  }

  async drained(): Promise<void> {
    if (this.isGone || !this.#stream.writableNeedDrain) return;
    await this.#wait('drain');
    if (!this.#stream.destroyed) this.#stream.setTimeout(0);
  }

  async end(): Promise<void> {
    if (this.isGone || this.#isFinished) return;
    this.#writeHead(true);
    if (!this.#stream.writableEnded) this.#stream.end();
    if (this.#stream.writableFinished) this.#noteFinish();
    else await this.#wait('finish');
  }

  /** Node ends the writing side of a HEAD before there is an answer. */
  #noteFinish(): void {
    const stream = this.#stream;
    if (!stream.headersSent || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return;
    this.#isFinished = true;
    // The rest of a request that is answered is not wanted. RFC 9113 §8.1
    if (!this.#options.isWhole && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  }

  async #wait(event: 'drain' | 'finish'): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stream.once(event, resolve);
    this.#stream.once('close', resolve);
    // Node's timer sees progress inside a large write.
    this.#stream.setTimeout(this.#options.idleTimeoutMs);
    await promise;
    this.#stream.off(event, resolve);
    this.#stream.off('close', resolve);
  }

  #limitArrival(): void {
    const timer = setTimeout(() => this.#refuse({ status: 408, reason: 'requestTimeout' }), this.#options.requestMs);
    for (const event of ['end', 'close']) this.#stream.once(event, () => clearTimeout(timer));
  }

  /** Answers a request that did not become one while it arrived. Nothing else is sent after it. */
  #refuse(refusal: Refusal): void {
    if (this.isGone || this.#isFinished) return;
    this.#refusal = refusal;
    const { status, reason } = refusal;
    const fields = ['content-length', '0', 'cache-control', 'no-store', 'date', formatDate(this.#options.clock())];
    if (!this.isBegun)
      this.#head = { status, headers: [...fields, 'x-cache', formatMark({ status: 'ERROR', reason })] };
    this.#writeHead(true);
    if (this.#isBodiless) this.#stream.close(constants.NGHTTP2_NO_ERROR);
    else this.#reset('its request does not arrive');
    this.#gone.abort();
  }

  /** Not by `close()`: that ends the stream first, as if the answer were whole. */
  #reset(why: string): void {
    this.#stream.setTimeout(0); // Node forgets it, and the timer would keep what was written
    this.#stream.destroy(new Error(why));
  }

  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  cut(status: 500 | 502 | 503): void {
    if (!this.isGone && !this.#isFinished) this.#cutStatus = status;
    this.#reset('its answer is not whole');
  }

  get cutStatus(): number | undefined {
    return this.#cutStatus;
  }
}

function ignore(): void {} // shows as closed
