/**
 * A request's body on its way to an origin. The body is received first, so that a slot at the origin is taken only when
 * there is something to send. A body for which the buffer has no room is passed on while it arrives.
 * docs/decisions/0441
 */
import type { BodyBuffer } from '../buffers/body-buffer.ts';
import type { IncomingBody } from '../incoming-body.ts';

export interface RequestBody {
  /** The whole body if it is small and in memory; otherwise `undefined`. */
  readonly bytes: Buffer | undefined;
  /** Reads the body from its first byte. Throws if it breaks off, or has been read before and was not kept. */
  read(): AsyncGenerator<Buffer>;
  /** Length of the whole body; `undefined` if it is passed on while it arrives. */
  readonly lengthBytes: number | undefined;
  /** Whether the body can be read from its first byte again. */
  readonly isReplayable: boolean;
  /**
   * Whether the body broke off: the client left or stalled, or the body is too large. A failed attempt then says
   * nothing about the origin.
   */
  readonly isBroken: boolean;
  /** Drops the buffered bytes: the body will not be read again. */
  release(): void;
}

export type ReceivedBody = { readonly kind: 'body'; readonly body: RequestBody } | { readonly kind: 'broken' };

/**
 * Resolves when the body is complete or broken, or the buffer has no room for more. The caller must close the buffer.
 */
export async function receiveBody(incoming: IncomingBody, buffer: BodyBuffer): Promise<ReceivedBody> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isBroken = false;
  buffer.keepsRead = true;
  const gathering = gather(incoming, buffer, resolve).catch((error: unknown) => {
    isBroken = true;
    buffer.fail(error instanceof Error ? error : new Error(String(error)));
  });
  await Promise.race([gathering, promise]);
  if (isBroken) return { kind: 'broken' };
  if (!buffer.hasEnded) buffer.keepsRead = false;
  return { kind: 'body', body: new BufferedBody(buffer, () => isBroken) };
}

/** Calls `onFull` when the buffer has no room: nothing more is received until a reader takes bytes. */
async function gather(incoming: IncomingBody, buffer: BodyBuffer, onFull: () => void): Promise<void> {
  for await (const chunk of incoming.read()) {
    if (buffer.isClosed) return;
    if (buffer.add(chunk)) continue;
    await buffer.room();
    if (!buffer.isFull) continue;
    onFull();
    await buffer.drained();
  }
  buffer.end();
}

class BufferedBody implements RequestBody {
  readonly #buffer: BodyBuffer;
  readonly #isBroken: () => boolean;
  #isBeingRead = false;
  #isReleased = false;

  constructor(buffer: BodyBuffer, isBroken: () => boolean) {
    this.#buffer = buffer;
    this.#isBroken = isBroken;
  }

  get bytes(): Buffer | undefined {
    return this.#buffer.hasEnded ? this.#buffer.bytes : undefined;
  }

  get lengthBytes(): number | undefined {
    return this.#buffer.hasEnded ? this.#buffer.sizeBytes : undefined;
  }

  get isReplayable(): boolean {
    return this.#buffer.isWhole;
  }

  get isBroken(): boolean {
    return this.#isBroken();
  }

  async *read(): AsyncGenerator<Buffer> {
    this.#isBeingRead = true;
    try {
      for (let at = 0; ; ) {
        const bytes = await this.#buffer.read(at);
        if (bytes === undefined) return;
        at += bytes.length;
        yield bytes;
      }
    } finally {
      this.#isBeingRead = false;
      if (this.#isReleased) this.#buffer.close();
    }
  }

  release(): void {
    this.#isReleased = true;
    this.#buffer.keepsRead = false;
    if (!this.#isBeingRead) this.#buffer.close();
  }
}
