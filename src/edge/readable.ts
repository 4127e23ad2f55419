/** Whether a stored body can be sent: to be asked before the first byte of an answer. */
import type { StoredBody } from './store/store.ts';

/** False: it has left the disk, and its variant with it. */
export async function isReadable(body: StoredBody): Promise<boolean> {
  return body.prepare === undefined || (await body.prepare());
}
