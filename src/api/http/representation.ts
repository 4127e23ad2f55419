/** Bytes that are kept to be sent many times, with their entity tag. */
import { createHash } from 'node:crypto';

export interface Representation {
  readonly body: Buffer;
  /** Strong: other bytes have another. */
  readonly etag: string;
}

export function represent(body: Buffer): Representation {
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}
