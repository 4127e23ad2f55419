/** Durable storage of log files and recordings: blobs by key, in a local directory or an S3-compatible store. */
import type { Readable } from 'node:stream';

export interface BlobStore {
  /** Stores a blob atomically. The same key may be stored again with the same bytes. */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /** Reads the bytes from `start` up to, not including, `end`, both within the blob. Rejects with `BlobMissing`. */
  read(key: BlobKey, span: BlobSpan): Promise<Readable>;
  /** Deletes a blob; an absent one counts as deleted. */
  delete(key: BlobKey): Promise<void>;
  /** Present if others than control can store blobs, by addresses that it signs. */
  readonly uploads?: BlobUploads;
}

export interface BlobUploads {
  /** Returns the address of a PUT of these bytes and no others, and its header fields. It is good for some minutes. */
  signPut(key: BlobKey, content: BlobContent): Promise<SignedPut>;
  /** Returns the size of a blob; `undefined` if it does not exist. */
  sizeOf(key: BlobKey): Promise<number | undefined>;
}

export interface BlobContent {
  readonly bytes: number;
  /** SHA-256, hex. */
  readonly sha256: string;
}

export interface SignedPut {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A key that `blobKey` has checked. */
export type BlobKey = string & { readonly _: unique symbol };

export interface BlobSpan {
  readonly start: number;
  readonly end: number;
}

export class BlobMissing extends Error {}

const MAX_KEY_CHARS = 512;

/**
 * Checks a key: one to eight names of letters, digits, `.`, `_` and `-`, each beginning with a letter or a digit,
 * joined by `/`. Returns `undefined` if it is invalid.
 */
export function blobKey(text: string): BlobKey | undefined {
  const isKey = text.length <= MAX_KEY_CHARS && /^[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*){0,7}$/i.test(text);
  // `as`: the type stands for the check above.
  return isKey ? (text as BlobKey) : undefined;
}
