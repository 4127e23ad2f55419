/** The body of a viewer's request as it arrives: bounded, with a time limit for each piece. */
import type { Readable } from 'node:stream';

/** The largest body that is passed on; larger ones are answered 413. */
export const MAX_REQUEST_BODY_BYTES = 100 * 1024 * 1024;

export interface IncomingBody {
  /** Pieces as they arrive; throws when the body breaks off, is too large or stalls. To be called once. */
  read(): AsyncIterable<Buffer>;
  readonly isTooLarge: boolean;
  /** Bytes read so far. */
  readonly sizeBytes: number;
}

export interface IncomingBodyOptions {
  readonly maxBytes: number;
  /** Longest wait for the next chunk. */
  readonly idleTimeoutMs: number;
  /** Called when reading begins: the moment for `100 Continue`. RFC 9110 §10.1.1 */
  readonly onStart: () => void;
}

export function createIncomingBody(message: Readable, options: IncomingBodyOptions): IncomingBody {
  let isTooLarge = false;
  let sizeBytes = 0;

  async function* read(): AsyncGenerator<Buffer> {
    options.onStart();
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
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    read,
    get isTooLarge() {
      return isTooLarge;
    },
    get sizeBytes() {
      return sizeBytes;
    },
  };
}
