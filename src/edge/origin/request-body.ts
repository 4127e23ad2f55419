/** A viewer's request body on its way to an origin: read only when a connection asks for it, bounded, with a time limit. */
import type { Readable } from 'node:stream';

/** The largest body that is passed on; larger ones are answered 413. */
export const MAX_REQUEST_BODY_BYTES = 100 * 1024 * 1024;

export interface RequestBody {
  /** Chunks as they arrive; throws when the body breaks off, is too large or stalls. Call it once per attempt. */
  read(): AsyncIterable<Buffer>;
  /** True once any byte was asked for: then the request cannot go to another origin. */
  readonly isTouched: boolean;
  /** It ended early: the client left or stalled, or `isTooLarge`. An attempt that failed then says nothing about the origin. */
  readonly isBroken: boolean;
  readonly isTooLarge: boolean;
  /** Bytes passed on so far. */
  readonly sizeBytes: number;
}

export interface RequestBodyOptions {
  readonly maxBytes: number;
  /** Longest wait for the next chunk. */
  readonly idleTimeoutMs: number;
  /** Called when reading begins: the moment for `100 Continue`. RFC 9110 §10.1.1 */
  readonly onStart: () => void;
}

export function createRequestBody(message: Readable, options: RequestBodyOptions): RequestBody {
  let isTouched = false;
  let isBroken = false;
  let isTooLarge = false;
  let sizeBytes = 0;

  async function* read(): AsyncGenerator<Buffer> {
    if (!isTouched) options.onStart();
    isTouched = true;
    let timer: NodeJS.Timeout | undefined;
    const arm = () => {
      clearTimeout(timer);
      timer = setTimeout(() => message.destroy(new Error('the request body stalled')), options.idleTimeoutMs);
    };
    try {
      arm();
      // The message belongs to the server, which may still answer it.
      for await (const chunk of message.iterator({ destroyOnReturn: false })) {
        clearTimeout(timer);
        sizeBytes += chunk.length;
        if (sizeBytes > options.maxBytes) {
          isTooLarge = true;
          throw new Error('the request body is too large');
        }
        yield chunk;
        arm();
      }
    } catch (error) {
      isBroken = true;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    read,
    get isTouched() {
      return isTouched;
    },
    get isBroken() {
      return isBroken;
    },
    get isTooLarge() {
      return isTooLarge;
    },
    get sizeBytes() {
      return sizeBytes;
    },
  };
}
