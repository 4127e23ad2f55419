/**
 * A request's body on its way to an origin. It is received first, so that a slot at the origin is taken when there is
 * something to send; only a body that finds no room in a buffer is passed on while it arrives. docs/decisions/0441
 */
import type { BodyBuffer } from '../buffers/body-buffer.ts';
import type { IncomingBody } from '../incoming-body.ts';

export interface RequestBody {
  /** All of it, where that is in memory and small. */
  readonly bytes: Buffer | undefined;
  /** Reads the body from its first byte. Throws when it breaks off or was read before and not kept. */
  read(): AsyncGenerator<Buffer>;
  /** Length of the whole body; `undefined`: it is passed on while it arrives. */
  readonly lengthBytes: number | undefined;
  /** The body can be read from its first byte again. */
  readonly isReplayable: boolean;
  /**
   * The body broke off: the client left or stalled, or it is too large. An attempt that failed then says nothing about
   * the origin.
   */
  readonly isBroken: boolean;
  /** Drops bytes that were read: the body is not read again. */
  release(): void;
}

export type ReceivedBody = { readonly kind: 'body'; readonly body: RequestBody } | { readonly kind: 'broken' };

/** Resolves when the body is whole, is broken, or finds no room. The buffer is the caller's to close. */
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

/** `onFull`: nothing more is received until somebody reads. */
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
