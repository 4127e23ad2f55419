/**
 * Sends a body at the origin's pace: the bytes that a slow client has not taken wait in a buffer, so that the origin's
 * connection is free as soon as the origin has sent everything. docs/decisions/0442
 */
import { ownBytes } from '#lib/own-bytes.ts';
import type { BodyBuffer } from '../buffers/body-buffer.ts';
import type { Buffers } from '../buffers/buffers.ts';
import type { Viewer } from '../viewer.ts';

/** The client and domain that a body is for. */
export interface Recipient {
  readonly viewer: Viewer;
  /** Domain of the answer. */
  readonly domainId: number;
}

export class BufferedSender {
  readonly #viewer: Viewer;
  readonly #domainId: number;
  readonly #buffers: Buffers;
  /** The buffer, opened at the first wait for the client. */
  #buffer: BodyBuffer | undefined;
  #emptied: Promise<void> | undefined;

  constructor({ viewer, domainId }: Recipient, buffers: Buffers) {
    this.#viewer = viewer;
    this.#domainId = domainId;
    this.#buffers = buffers;
  }

  /** Whether bytes are buffered. */
  get isBuffering(): boolean {
    return this.#buffer !== undefined;
  }

  /** Writes bytes, which must not change afterwards. Returns false if the caller has to wait for `room`. */
  write(bytes: Buffer): boolean {
    return this.#buffer === undefined ? this.#viewer.write(bytes) : this.#buffer.add(bytes);
  }

  /** Writes bytes that may change after the call. */
  writeLent(bytes: Buffer): boolean {
    return this.#buffer === undefined ? this.#viewer.writeLent(bytes) : this.#buffer.add(ownBytes([bytes]));
  }

  /** Resolves when more may be written, or after `close`. The first call opens the buffer and resolves at once. */
  async room(): Promise<void> {
    if (this.#buffer !== undefined) return this.#buffer.drained();
    if (this.#viewer.isGone) return;
    const buffer = this.#buffers.open('answer', this.#viewer.received, this.#domainId);
    this.#buffer = buffer;
    this.#viewer.signal.addEventListener('abort', () => buffer.close(), { once: true });
    this.#emptied = this.#empty(buffer);
  }

  /** Resolves when everything was written to the client, or the client is gone. `undefined`: nothing waits. */
  end(): Promise<void> | undefined {
    this.#buffer?.end();
    return this.#emptied;
  }

  /** Drops the bytes that were not written. To be called at the end, and if the source has failed. */
  close(): void {
    this.#buffer?.close();
  }

  /** Never rejects. */
  async #empty(buffer: BodyBuffer): Promise<void> {
    const viewer = this.#viewer;
    try {
      await viewer.drained();
      for (let at = 0; ; ) {
        const bytes = await buffer.read(at);
        if (bytes === undefined || viewer.isGone) return;
        at += bytes.length;
        if (!viewer.write(bytes)) await viewer.drained();
      }
    } catch {
      if (!buffer.isClosed) viewer.cut(500); // the disk cannot be read
    }
  }
}
