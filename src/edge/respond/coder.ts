/** Compression: bytes in, coded bytes out, piece by piece on the thread pool. */
import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import type { ContentCoding } from '#http/content-coding.ts';
import { unreachable } from '#lib/unreachable.ts';

/**
 * Levels that take about 20 ms per MiB of text; the next ones take twice the time and save a hundredth.
 * docs/decisions/0120
 */
const BROTLI_QUALITY = 5;
const GZIP_LEVEL = 6;
const ZSTD_LEVEL = 5;
/** Bits of the window: a larger one takes up to 36 MiB of memory for 8 MiB of text, this one 6. */
const BROTLI_WINDOW_BITS = 19;
/** Bytes per turn on the thread pool, a millisecond or two. */
const PIECE_BYTES = 64 * 1024;
/** Pause of the source after which everything so far is flushed. */
const PAUSE_MS = 50;

export interface Coder {
  /**
   * Adds a piece. Resolves with coded bytes that are ready, if any. Calls of this and the next two must not overlap.
   */
  add(piece: Buffer): Promise<readonly Buffer[]>;
  /** Resolves with the coded bytes of everything added so far. */
  flush(): Promise<readonly Buffer[]>;
  end(): Promise<readonly Buffer[]>;
  /** Frees its memory, even during a call. */
  close(): void;
}

/** Runs a piece of work when its turn comes. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function createCoder(coding: ContentCoding): Coder {
  const stream = openStream(coding);
  let ready: Buffer[] = [];
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => undefined); // reported to the callers that wait for the end
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => undefined);
  stream.on('data', (bytes: Buffer) => ready.push(bytes));
  stream.on('end', ended.resolve);
  stream.on('error', closed.reject);
  stream.on('close', () => closed.reject(new Error('the coder was closed')));
  const take = async (done: Promise<void>): Promise<readonly Buffer[]> => {
    await Promise.race([done, closed.promise]);
    const taken = ready;
    ready = [];
    return taken;
  };
  const call = (method: (callback: () => void) => void): Promise<readonly Buffer[]> => take(new Promise(method));
  return {
    add: (piece) => call((done) => void stream.write(piece, done)),
    flush: () => call((done) => stream.flush(FLUSHES[coding], done)),
    end: () => {
      stream.end();
      return take(ended.promise);
    },
    close: () => void stream.destroy(),
  };
}

/**
 * Yields the source's bytes, coded. Flushes when the source pauses, so that a page that is generated slowly arrives as
 * it is generated. Closes the coder; ends the source if the iteration is stopped early.
 */
export async function* encode(source: AsyncIterable<Buffer>, coder: Coder, inTurn: InTurn): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]();
  let isHolding = false;
  try {
    for (;;) {
      const next = pieces.next();
      if (isHolding && (await isPausing(next))) {
        yield* await inTurn(() => coder.flush());
        isHolding = false;
      }
      const { done, value } = await next;
      if (done === true) break;
      for (const piece of cut(value)) yield* await inTurn(() => coder.add(piece));
      isHolding = true;
    }
    yield* await inTurn(() => coder.end());
  } finally {
    coder.close();
    await pieces.return?.();
  }
}

type CodingStream = Transform & { flush(kind: number, callback: () => void): void };

function openStream(coding: ContentCoding): CodingStream {
  switch (coding) {
    case 'br':
      return createBrotliCompress({
        params: {
          [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
          [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
        },
      });
    case 'gzip':
      return createGzip({ level: GZIP_LEVEL });
    case 'zstd':
      return createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
    default:
      return unreachable(coding);
  }
}

const FLUSHES = {
  br: constants.BROTLI_OPERATION_FLUSH,
  gzip: constants.Z_SYNC_FLUSH,
  zstd: constants.ZSTD_e_flush,
} as const satisfies Record<ContentCoding, number>;

/** Resolves with false as soon as `next` settles, and with true after the pause. */
async function isPausing(next: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, PAUSE_MS, true);
  const settle = () => resolve(false);
  next.then(settle, settle);
  const isPause = await promise;
  clearTimeout(timer);
  return isPause;
}

function* cut(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
