/** Bodies of shortcuts that the store has in memory. */
import type { StoredBody } from '../store/store.ts';

/** Limit of a body: larger ones take so long to send that nothing else counts. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Returns the body's bytes, valid for the current turn of the event loop or while the body is held; `undefined` if it
 * is too large or not in memory.
 */
export function bodyInMemory(body: StoredBody): readonly Buffer[] | undefined {
  return body.sizeBytes > MAX_BODY_BYTES ? undefined : body.inMemory;
}
