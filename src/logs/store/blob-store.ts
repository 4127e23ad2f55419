/** Where log files lie for good: bytes under keys, in a local directory or in storage that speaks S3. */
import type { Readable } from 'node:stream';

export interface BlobStore {
  /** Whole, or not at all; the same key with the same bytes may come again. */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /** The bytes from `start` up to, not including, `end`, both within the blob. Rejects with `BlobMissing`. */
  read(key: BlobKey, span: BlobSpan): Promise<Readable>;
  /** Deletes a blob; an absent one counts as deleted. */
  delete(key: BlobKey): Promise<void>;
}

/** Checked by `blobKey`. */
export type BlobKey = string & { readonly _: unique symbol };

export interface BlobSpan {
  readonly start: number;
  readonly end: number;
}

export class BlobMissing extends Error {}

const MAX_KEY_CHARS = 512;

/** `undefined`: not one to eight names of letters, digits, `.`, `_` and `-`, each beginning with a letter or a digit, with `/` between. */
export function blobKey(text: string): BlobKey | undefined {
  const isKey = text.length <= MAX_KEY_CHARS && /^[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*){0,7}$/i.test(text);
  // `as`: the check above is what the type stands for.
  return isKey ? (text as BlobKey) : undefined;
}
