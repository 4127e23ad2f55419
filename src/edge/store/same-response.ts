/** Whether two objects represent the same stored response: each look-up on disk returns new ones. */
import type { Stored } from '#http/stored.ts';

export function isSameResponse(a: Stored, b: Stored): boolean {
  return a.requestAt === b.requestAt && a.responseAt === b.responseAt && a.varyKey === b.varyKey && a.etag === b.etag;
}
