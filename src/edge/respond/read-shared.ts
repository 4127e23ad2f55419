/** Reads a body that is in transit into the store, for a reader that is not a client. */
import type { Cancellation } from '#lib/cancellation.ts';
import { Holds } from '../store/holds.ts';
import { isReadable } from '../store/readable-body.ts';
import type { SharedBody, SharedReader } from '../store/shared-body.ts';
import type { FetchRest } from './follow-body.ts';

export interface ReadAlongOptions {
  readonly fetchRest: FetchRest;
  readonly signal: Cancellation;
  /** Opened before; absent: it begins now. */
  readonly opened?: SharedReader;
  readonly holds?: Holds;
}

/**
 * Reads a shared body from its first byte to its end, or throws. Must be started, or its reader opened, while the first
 * byte is still there. The fetch continues while it is read. `holds`: hold the pieces; without any, a piece is valid until
 * the next one is asked for.
 */
export async function* readShared(
  shared: SharedBody,
  { fetchRest, signal, opened, holds }: ReadAlongOptions,
): AsyncGenerator<Buffer> {
  using own = new Holds();
  const kept = holds ?? own;
  const reader = opened ?? shared.open(0);
  signal.addEventListener('abort', reader.wake, { once: true });
  try {
    while (!signal.aborted) {
      const chunk = reader.read();
      if (chunk !== undefined) yield chunk;
      else if (shared.over !== undefined || (shared.isUnstored && shared.hasLost(reader.at))) break;
      else await reader.wait();
    }
  } finally {
    signal.removeEventListener('abort', reader.wake);
    kept.hold(shared);
    reader.leave();
  }
  if (signal.aborted) throw new Error('the body is not wanted any more');
  yield* await openRest(shared, reader.at, { fetchRest, signal, holds: kept });
}

/** A reader that has fallen behind continues from the store, or from the origin if the store has given the body up. */
async function openRest(
  shared: SharedBody,
  at: number,
  { fetchRest, signal, holds }: { readonly fetchRest: FetchRest; readonly signal: Cancellation; readonly holds: Holds },
): Promise<Iterable<Buffer> | AsyncIterable<Buffer>> {
  const { over } = shared;
  if (over?.kind === 'whole' && at === over.sizeBytes) return [];
  if (over?.kind === 'whole' && over.body !== undefined && (await isReadable(over.body, holds))) {
    return over.body.read({ first: at, last: over.sizeBytes - 1 });
  }
  const rest = shared.isUnstored && over?.kind !== 'broken' ? await fetchRest(at, signal) : undefined;
  if (rest === undefined) throw new Error('the body broke off');
  return rest;
}
