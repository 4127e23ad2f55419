/** Takes an answer's body into memory, in the place of the viewer that it is for: a playlist is changed before it is sent. */
import type { RawHeaders } from '#http/headers.ts';
import type { IncomingBody } from '../incoming-body.ts';
import type { ReceivedRequest } from '../request.ts';
import type { CutStatus, Viewer } from '../viewer.ts';

export class CollectingViewer implements Viewer {
  readonly received: ReceivedRequest;
  readonly #viewer: Viewer;
  readonly #maxBytes: number;
  readonly #pieces: Buffer[] = [];
  readonly #ended = Promise.withResolvers<void>();
  #bytes = 0;
  #isWhole = false;
  #cutStatus: CutStatus | undefined;
  statusSent = 0;

  constructor(viewer: Viewer, maxBytes: number) {
    this.received = viewer.received;
    this.#viewer = viewer;
    this.#maxBytes = maxBytes;
    void viewer.ended.then(() => this.#ended.resolve());
  }

  /** `undefined`: it broke off, or is longer than it may be. */
  get body(): Buffer | undefined {
    return this.#isWhole && this.#bytes <= this.#maxBytes ? Buffer.concat(this.#pieces) : undefined;
  }

  get signal(): AbortSignal {
    return this.#viewer.signal;
  }

  get isGone(): boolean {
    return this.#viewer.isGone;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get isFinished(): boolean {
    return this.#isWhole;
  }

  readonly receivedBytes = 0;
  readonly maxBodyBytes = 0;
  readonly queuedBytes = 0;
  readonly refusal = undefined;

  get sentBytes(): number {
    return this.#bytes;
  }

  openBody(): IncomingBody {
    return this.#viewer.openBody();
  }

  sendInterim(): void {}

  sendHead(status: number, _reason: string, _headers: RawHeaders): void {
    this.statusSent = status;
  }

  get isBegun(): boolean {
    return this.#bytes > 0;
  }

  switchProtocols(): undefined {
    return undefined;
  }

  write(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#maxBytes) this.#pieces.push(Buffer.from(chunk)); // it may be a place that is used again
    return true;
  }

  async drained(): Promise<void> {}

  async end(): Promise<void> {
    this.#isWhole = this.#cutStatus === undefined;
    this.#ended.resolve();
  }

  cut(status: CutStatus): void {
    this.#cutStatus = status;
    this.#ended.resolve();
  }

  get cutStatus(): CutStatus | undefined {
    return this.#cutStatus;
  }
}
