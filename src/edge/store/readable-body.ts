/** Whether a stored body can be sent, and from where: to be asked before the first byte of an answer. */
import type { CachedResponse, StoredBody } from './store.ts';

export interface ReadableBody {
  readonly body: StoredBody;
  /** The body had to be read from the disk for this answer. */
  readonly isFromDisk: boolean;
}

/** `undefined`: it has left the disk, and its variant with it. */
export async function openStored({ body, ...found }: CachedResponse): Promise<ReadableBody | undefined> {
  // Asked first: getting ready may bring it into memory.
  const isFromDisk = found.isFromDisk === true || body.isOnDisk === true;
  return (await isReadable(body)) ? { body, isFromDisk } : undefined;
}

/** False: it has left the disk, and its variant with it. */
export async function isReadable(body: StoredBody): Promise<boolean> {
  return body.prepare === undefined || (await body.prepare());
}
