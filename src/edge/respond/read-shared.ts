/** A body on its way into the store, for a reader that is no client. */

import { isReadable } from '../store/readable-body.ts';
import type { SharedBody, SharedReader } from '../store/shared-body.ts';
import type { FetchRest } from './follow-body.ts';

/**
 * Reads a shared body from its first byte to its end, or throws. Must be started, or its reader opened, while the first
 * byte is still there. The fetch continues while it is read.
 */
export async function* readShared(
  shared: SharedBody,
  fetchRest: FetchRest,
  signal: AbortSignal,
  opened?: SharedReader,
): AsyncGenerator<Buffer> {
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
    reader.leave();
  }
  signal.throwIfAborted();
  yield* await openRest(shared, reader.at, fetchRest, signal);
}

/** A reader that has fallen behind continues from the store, or from the origin if the store has given the body up. */
async function openRest(
  shared: SharedBody,
  at: number,
  fetchRest: FetchRest,
  signal: AbortSignal,
): Promise<Iterable<Buffer> | AsyncIterable<Buffer>> {
  const { over } = shared;
  if (over?.kind === 'whole' && at === over.sizeBytes) return [];
  if (over?.kind === 'whole' && over.body !== undefined && (await isReadable(over.body))) {
    return over.body.read({ first: at, last: over.sizeBytes - 1 });
  }
  const rest = shared.isUnstored && over?.kind !== 'broken' ? await fetchRest(at, signal) : undefined;
  if (rest === undefined) throw new Error('the body broke off');
  return rest;
}
