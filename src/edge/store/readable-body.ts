/** Whether a stored body can be sent, and from where. Must be asked before the first byte of an answer. */
import { after, type Eventual } from '#lib/future.ts';
import type { Holds } from './holds.ts';
import type { CachedResponse, StoredBody } from './store.ts';

export interface ReadableBody {
  readonly body: StoredBody;
  /** Whether the body is read from the disk for this answer. */
  readonly isFromDisk: boolean;
}

/** Holds the body. Returns `undefined` if it has left the store. */
export function openStored({ body, ...found }: CachedResponse, holds: Holds): Eventual<ReadableBody | undefined> {
  // Read first, since `prepare` may load the body into memory.
  const isFromDisk = found.isFromDisk === true || body.isOnDisk === true;
  return after(isReadable(body, holds), (isThere) => (isThere ? { body, isFromDisk } : undefined));
}

/** Holds the body. Returns false if it has left the store. */
export function isReadable(body: StoredBody, holds: Holds): Eventual<boolean> {
  return holds.hold(body) && (body.prepare === undefined || body.prepare());
}
