/** Bodies of shortcuts, where the store has them in memory. */
import type { StoredBody } from '../store/store.ts';

/** Larger ones take so long to send that nothing else counts. */
const MAX_BODY_BYTES = 1024 * 1024;

/** `undefined`: too large, or not there. */
export function bodyInMemory(body: StoredBody): readonly Buffer[] | undefined {
  if (body.sizeBytes > MAX_BODY_BYTES || body.isOnDisk === true) return undefined;
  const pieces = body.read({ first: 0, last: body.sizeBytes - 1 });
  return Symbol.iterator in pieces ? [...pieces] : undefined;
}
