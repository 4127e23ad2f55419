/** One request over HTTP/2 that the pipeline answers on a stream of its connection. */
import { formatDate } from '#http/dates.ts';
import { type RawHeaders, withoutHopByHop } from '#http/headers.ts';
import { type Cancellation, CancellationSource } from '#lib/cancellation.ts';
import { type Clock, steadyClock } from '#lib/clock.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { Refusal } from '../../early-refusal.ts';
import { createIncomingBody, type IncomingBody } from '../../incoming-body.ts';
import { formatMark } from '../../reasons.ts';
import { type ReceivedRequest, requestHeadBytes } from '../../request.ts';
import { type CutStatus, NOT_IN_INTERIM, type Viewer } from '../../viewer.ts';
import { Http2ErrorCode } from './frames.ts';
import { type EncodedSection, encodeSection } from './head-fields.ts';
import type { Http2Stream, StreamOwner } from './stream.ts';
import { Upload } from './upload.ts';

export interface Http2ViewerOptions {
  readonly expectsContinue: boolean;
  /** Longest wait for the next piece of a request body. */
  readonly idleTimeoutMs: number;
  /** Longest time until the whole request has arrived. */
  readonly requestMs: number;
  readonly maxRequestBodyBytes: number;
  readonly clock: Clock;
  /** Called when the answer was sent, or its client is gone. */
  readonly onEnded: () => void;
}

export class Http2Viewer implements Viewer, StreamOwner {
  readonly received: ReceivedRequest;
  readonly #stream: Http2Stream;
  readonly #options: Http2ViewerOptions;
  readonly #upload: Upload;
  #body: IncomingBody | undefined;
  begunAt: number | undefined;
  #statusSent = 0;
  /** The head, until it is sent. */
  #head: EncodedSection | undefined;
  /** The head ended the answer; written bytes are dropped. */
  #isBodiless = false;
  #headBytes = 0;
  #bodyBytes = 0;
  #refusal: Refusal | undefined;
  #cutStatus: CutStatus | undefined;
  #isFinished = false;
  #isGone = false;
  #arrival: NodeJS.Timeout | undefined;
  // Created on first use: most answers wait for nothing.
  #gone: CancellationSource | undefined;
  #ended: PromiseWithResolvers<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(stream: Http2Stream, received: ReceivedRequest, options: Http2ViewerOptions) {
    this.received = received;
    this.#stream = stream;
    this.#options = options;
    this.#upload = new Upload({
      onTaken: (bytes) => stream.giveRoom(bytes),
      onBroken: () => stream.reset(Http2ErrorCode.internal),
    });
    stream.owner = this;
    if (stream.isRequestOpen)
      this.#arrival = setTimeout(() => this.#refuse({ status: 408, reason: 'requestTimeout' }), options.requestMs);
    else this.#upload.end();
  }

  get signal(): Cancellation {
    if (this.#gone === undefined) {
      this.#gone = new CancellationSource();
      if (this.#isGone) this.#gone.abort();
    }
    return this.#gone;
  }

  get statusSent(): number {
    return this.#statusSent;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  get ended(): Promise<void> {
    if (this.#isFinished || this.#isGone) return DONE;
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  /** Size over HTTP/1.1, since the compressed size depends on the connection. */
  get receivedBytes(): number {
    return requestHeadBytes(this.received) + (this.#body?.sizeBytes ?? 0);
  }

  /** Counted in the same way. */
  get sentBytes(): number {
    return this.#headBytes + this.#bodyBytes - this.#stream.queuedBytes;
  }

  get maxBodyBytes(): number {
    return this.#options.maxRequestBodyBytes;
  }

  openBody(): IncomingBody {
    this.#body ??= createIncomingBody(this.#upload.open(), {
      maxBytes: this.#options.maxRequestBodyBytes,
      idleTimeoutMs: this.#options.idleTimeoutMs,
      onStart: () => {
        // The body is wanted from here on. RFC 9110 §10.1.1
        if (this.#options.expectsContinue) this.sendInterim(100, []);
      },
    });
    return this.#body;
  }

  sendInterim(status: number, headers: RawHeaders): void {
    if (this.#statusSent !== 0 || this.#isGone || this.#stream.isClosed) return;
    const { section, headBytes } = encodeSection(status, withoutHopByHop(headers, NOT_IN_INTERIM));
    this.#headBytes += headBytes;
    this.#stream.sendInterim(section);
  }

  sendHead(status: number, _reason: string, headers: RawHeaders): void {
    if (this.#isGone || this.isBegun) return;
    // Clients must treat status codes above 599 as 5xx. RFC 9110 §15
    const sent = status > 599 ? 500 : status;
    this.#head = encodeSection(sent, headers);
    this.#statusSent = sent;
  }

  get isBegun(): boolean {
    return this.#stream.isHeadSent;
  }

  /** Always `undefined`: HTTP/2 has no 101. RFC 9113 §8.6 */
  switchProtocols(): undefined {
    return undefined;
  }

  #writeHead(endsStream: boolean): void {
    if (this.#head === undefined || this.#stream.isClosed) return;
    const { section, headBytes } = this.#head;
    this.#head = undefined;
    this.begunAt = steadyClock();
    const status = this.#statusSent;
    this.#headBytes += headBytes;
    this.#isBodiless =
      endsStream || this.received.method === 'HEAD' || status === 204 || status === 205 || status === 304;
    this.#stream.sendHead(section, this.#isBodiless);
  }

  write(chunk: Buffer): boolean {
    if (this.#isGone) return true;
    this.#writeHead(false);
    if (this.#isBodiless || this.#stream.isClosed) return true;
    this.#bodyBytes += chunk.length;
    this.#stream.write(chunk);
    return this.#stream.hasRoom;
  }

  writeLent(chunk: Buffer): boolean {
    return this.write(ownBytes([chunk]));
  }

  get queuedBytes(): number {
    return this.#stream.queuedBytes;
  }

  drained(): Promise<void> {
    if (this.#isGone || this.#stream.hasRoom) return DONE;
    this.#room ??= Promise.withResolvers();
    this.#stream.wantRoom();
    return this.#room.promise;
  }

  end(): Promise<void> | undefined {
    if (this.#isGone || this.#isFinished) return undefined;
    this.#writeHead(true);
    this.#stream.end();
    return this.ended;
  }

  // Events of the stream.

  onData(bytes: Buffer): void {
    this.#upload.add(bytes);
  }

  onRequestEnd(): void {
    clearTimeout(this.#arrival);
    this.#upload.end();
  }

  onRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  onOut(): void {
    this.#isFinished = true;
    this.#conclude();
  }

  onLost(): void {
    this.#isGone = true;
    this.#conclude();
    this.#gone?.abort();
  }

  #conclude(): void {
    clearTimeout(this.#arrival);
    this.#upload.fail();
    this.onRoom();
    this.#ended?.resolve();
    this.#options.onEnded();
  }

  /** Refuses a request that did not arrive completely. Nothing else is sent after it. */
  #refuse(refusal: Refusal): void {
    if (this.#isGone || this.#isFinished) return;
    this.#refusal = refusal;
    const { status, reason } = refusal;
    const fields = ['content-length', '0', 'cache-control', 'no-store', 'date', formatDate(this.#options.clock())];
    if (this.isBegun) this.#stream.reset(Http2ErrorCode.internal);
    else {
      this.sendHead(status, '', [...fields, 'x-cache', formatMark({ status: 'ERROR', reason })]);
      this.#writeHead(true);
    }
    this.#isGone = true;
    this.#gone?.abort();
  }

  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  cut(status: CutStatus): void {
    if (!this.#isGone && !this.#isFinished) this.#cutStatus = status;
    this.#stream.reset(Http2ErrorCode.internal);
  }

  get cutStatus(): CutStatus | undefined {
    return this.#cutStatus;
  }
}

const DONE = Promise.resolve();
