/** Whether a stored body can be sent, and from where: to be asked before the first byte of an answer. */
import { after, type Eventual } from '#lib/future.ts';
import type { Holds } from './holds.ts';
import type { CachedResponse, StoredBody } from './store.ts';

export interface ReadableBody {
  readonly body: StoredBody;
  /** The body had to be read from the disk for this answer. */
  readonly isFromDisk: boolean;
}

/** Holds the body. `undefined`: it has left the store. */
export function openStored({ body, ...found }: CachedResponse, holds: Holds): Eventual<ReadableBody | undefined> {
  // Asked first: getting ready may bring it into memory.
  const isFromDisk = found.isFromDisk === true || body.isOnDisk === true;
  return after(isReadable(body, holds), (isThere) => (isThere ? { body, isFromDisk } : undefined));
}

/** Holds the body. False: it has left the store. */
export function isReadable(body: StoredBody, holds: Holds): Eventual<boolean> {
  return holds.hold(body) && (body.prepare === undefined || body.prepare());
}
