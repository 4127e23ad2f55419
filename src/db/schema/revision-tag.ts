/** Mints the tag of a revision: see `tables/revision-tags.ts`. */
import { randomBytes } from 'node:crypto';

const TAG_BYTES = 9;

export function mintRevisionTag(): string {
  return randomBytes(TAG_BYTES).toString('base64url');
}
