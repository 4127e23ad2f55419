/** Bodies of shortcuts, where the store has them in memory. */
import type { StoredBody } from '../store/store.ts';

/** Larger ones take so long to send that nothing else counts. */
const MAX_BODY_BYTES = 1024 * 1024;

/** The body's bytes, for the current turn or while it is held; `undefined`: too large, or not in memory. */
export function bodyInMemory(body: StoredBody): readonly Buffer[] | undefined {
  return body.sizeBytes > MAX_BODY_BYTES ? undefined : body.inMemory;
}
