/**
 * Stored parts of one object, and joining those that touch. `http/combine.ts` decides what may be combined.
 * RFC 9111 §3.4
 */
import { Readable } from 'node:stream';
import { combine } from '#http/combine.ts';
import { type ByteSpan, spanBytes } from '#http/range.ts';
import type { PartialRange, Stored } from '#http/stored.ts';
import { Holds } from '../store/holds.ts';
import { isReadable } from '../store/readable-body.ts';
import type { CachedResponse, CacheStore, StoredBody } from '../store/store.ts';

export type StoredPart = CachedResponse & { readonly range: PartialRange };

export function isPart(stored: CachedResponse): stored is StoredPart {
  return stored.range !== undefined;
}

/**
 * Copies both bodies into a new one, held by `holds`. Returns `undefined` if no response in `present` fits, a body
 * cannot be read, or the store has no room.
 */
export async function joinParts(
  store: CacheStore,
  present: readonly CachedResponse[],
  newer: CachedResponse,
  holds: Holds,
): Promise<CachedResponse | undefined> {
  for (const older of present) {
    if (older.varyKey !== newer.varyKey || older.vary.join() !== newer.vary.join()) continue;
    const combination = combine(older, newer);
    if (combination === undefined) continue;
    const bodies = { older: older.body, newer: newer.body };
    const body = await copyPieces(
      store,
      combination.pieces.map(({ from, start, end }) => ({ body: bodies[from], span: { first: start, last: end - 1 } })),
      holds,
    );
    return body === undefined ? undefined : { ...sinceOldest(combination.stored, older), body };
  }
  return undefined;
}

/**
 * Returns the head of the whole object made of a stored beginning and its fetched rest; `undefined` if the two do not
 * make a whole.
 */
export function completeHead(prefix: StoredPart, rest: Stored): Stored | undefined {
  if (rest.range?.first !== prefix.range.last + 1) return undefined;
  const combination = combine(prefix, rest);
  if (combination === undefined || combination.stored.range !== undefined) return undefined;
  return sinceOldest(combination.stored, prefix);
}

/** Keeps the older request time: a purge between the two requests applies to the older bytes. */
function sinceOldest(joined: Stored, older: Stored): Stored {
  return { ...joined, requestAt: Math.min(joined.requestAt, older.requestAt) };
}

/**
 * Returns a stream of the stored bytes, then of `rest`. The caller must hold `body` too, until the bytes that were read
 * have been sent. Destroying the stream destroys `rest`.
 */
export function prepend(body: StoredBody, rest: Readable): Readable {
  rest.on('error', () => undefined); // the error reaches the reader of the stream
  const holds = new Holds();
  holds.hold(body);
  const whole = Readable.from(readBoth(body, rest), { objectMode: false });
  whole.once('close', () => {
    holds.release();
    rest.destroy();
  });
  return whole;
}

async function* readBoth(body: StoredBody, rest: Readable): AsyncGenerator<Buffer> {
  yield* body.read({ first: 0, last: body.sizeBytes - 1 });
  yield* rest;
}

interface Piece {
  readonly body: StoredBody;
  readonly span: ByteSpan;
}

async function copyPieces(store: CacheStore, pieces: readonly Piece[], holds: Holds): Promise<StoredBody | undefined> {
  const writer = store.openWriter(pieces.reduce((sum, { span }) => sum + spanBytes(span), 0));
  try {
    for (const { body, span } of pieces) {
      if (!(await isReadable(body, holds))) return undefined;
      for await (const chunk of body.read(span)) {
        if (!writer.add(chunk)) return undefined;
        await writer.drained?.();
      }
    }
    const body = writer.finish();
    if (body !== undefined) holds.hold(body);
    return body;
  } catch {
    return undefined; // the older bytes are no longer on the disk
  } finally {
    writer.discard();
  }
}
