/** Buffers the body of a request on one stream until it is read. The stream's window bounds the buffer. */
import { Readable } from 'node:stream';

export interface UploadOptions {
  /** Called when bytes were read, so that the window can widen by as many. */
  onTaken(bytes: number): void;
  /** The reader has aborted the body. */
  onBroken(): void;
}

/** Smaller pieces are joined: each alone costs as much memory as this. */
const GATHERED_BYTES = 4 * 1024;

export class Upload {
  readonly #options: UploadOptions;
  readonly #pieces: Buffer[] = [];
  /** The last piece, while it has room. */
  #gathering: Buffer | undefined;
  #gatheredBytes = 0;
  #readable: Readable | undefined;
  #isWanted = false;
  #hasEnded = false;
  #error: Error | undefined;

  constructor(options: UploadOptions) {
    this.#options = options;
  }

  /** Adds a piece of the body. The bytes are copied. */
  add(bytes: Buffer): void {
    if (this.#error !== undefined) return;
    if (bytes.length >= GATHERED_BYTES) {
      this.#closePiece();
      this.#pieces.push(Buffer.from(bytes));
    } else this.#gather(bytes);
    this.#give();
  }

  #gather(bytes: Buffer): void {
    const room = this.#gathering === undefined ? 0 : GATHERED_BYTES - this.#gatheredBytes;
    if (bytes.length > room) this.#closePiece();
    this.#gathering ??= Buffer.allocUnsafeSlow(GATHERED_BYTES);
    this.#gatheredBytes += bytes.copy(this.#gathering, this.#gatheredBytes);
  }

  #closePiece(): void {
    if (this.#gathering !== undefined) this.#pieces.push(this.#gathering.subarray(0, this.#gatheredBytes));
    this.#gathering = undefined;
    this.#gatheredBytes = 0;
  }

  /** Ends the body as complete. */
  end(): void {
    this.#hasEnded = true;
    this.#give();
  }

  /** Ends the body as incomplete. */
  fail(): void {
    if (this.#hasEnded) return;
    this.#error = new Error('the request ended before it was whole');
    this.#pieces.length = 0;
    this.#gathering = undefined;
    this.#readable?.destroy(this.#error);
  }

  /** Returns the body as a stream, the same one on each call. */
  open(): Readable {
    this.#readable ??= this.#openReadable();
    return this.#readable;
  }

  #openReadable(): Readable {
    const readable = new Readable({
      highWaterMark: 1, // the queue is in this class
      read: () => {
        this.#isWanted = true;
        this.#give();
      },
      destroy: (error, done) => {
        if (error !== null && this.#error === undefined) this.#options.onBroken();
        done(error);
      },
    });
    readable.on('error', ignore); // the reader receives the error
    if (this.#error !== undefined) readable.destroy(this.#error);
    return readable;
  }

  #give(): void {
    const readable = this.#readable;
    if (readable === undefined || !this.#isWanted) return;
    if (this.#pieces.length === 0) this.#closePiece();
    const piece = this.#pieces.shift();
    if (piece === undefined) {
      if (this.#hasEnded) readable.push(null);
      return;
    }
    this.#isWanted = false;
    readable.push(piece);
    this.#options.onTaken(piece.length);
  }
}

function ignore(): void {}
