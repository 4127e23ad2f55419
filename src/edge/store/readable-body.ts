/** Whether a stored body can be sent, and from where: to be asked before the first byte of an answer. */
import type { Holds } from './holds.ts';
import type { CachedResponse, StoredBody } from './store.ts';

export interface ReadableBody {
  readonly body: StoredBody;
  /** The body had to be read from the disk for this answer. */
  readonly isFromDisk: boolean;
}

/** Holds the body. `undefined`: it has left the store. */
export async function openStored({ body, ...found }: CachedResponse, holds: Holds): Promise<ReadableBody | undefined> {
  // Asked first: getting ready may bring it into memory.
  const isFromDisk = found.isFromDisk === true || body.isOnDisk === true;
  return (await isReadable(body, holds)) ? { body, isFromDisk } : undefined;
}

/** Holds the body. False: it has left the store. */
export async function isReadable(body: StoredBody, holds: Holds): Promise<boolean> {
  return holds.hold(body) && (body.prepare === undefined || (await body.prepare()));
}
