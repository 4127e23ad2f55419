/**
 * The coded form of a stored response: a second body in the store, made once. It is only found through the response
 * that it was made from. docs/decisions/0121
 */
import type { ContentCoding } from '#http/content-coding.ts';
import { firstValue } from '#http/headers.ts';
import type { CacheOptions } from '#http/options.ts';
import type { Stored } from '#http/stored.ts';
import type { Holds } from '../store/holds.ts';
import { openStored, type ReadableBody } from '../store/readable-body.ts';
import type { CachedResponse, CacheStore, StoredBody } from '../store/store.ts';

export interface CodedForm {
  readonly siteId: number;
  /** Key of the response. */
  readonly key: string;
  readonly options: CacheOptions;
  readonly coding: ContentCoding;
  /** Response that it is made from. */
  readonly of: Stored;
}

/**
 * Holds the coded form. Returns `undefined` if it is not stored. `bodyBytes`: length of the body that it is made from.
 */
export async function findCoded(
  store: CacheStore,
  form: CodedForm,
  bodyBytes: number,
  holds: Holds,
): Promise<ReadableBody | undefined> {
  const key = codedKey(form);
  const isIt = (variant: CachedResponse) => isMadeFrom(variant, form.of, bodyBytes);
  const entry = await store.find(key);
  // Another worker may have made it since.
  const found = entry?.variants.find(isIt) ?? (await store.findNewer(key, entry))?.variants.find(isIt);
  return found && openStored(found, holds);
}

export function putCoded(store: CacheStore, form: CodedForm, bodyBytes: number, body: StoredBody): void {
  // When served, it gets the response's own head. The stored head only shows what the body was made from.
  store.put(codedKey(form), { ...form.of, headers: ['Content-Length', String(bodyBytes)], body }, form.options);
}

/** Returns the store's key. Other keys have no line end. */
export function codedKey({ key, coding }: Pick<CodedForm, 'key' | 'coding'>): string {
  return `${key}\n${coding}`;
}

/**
 * Whether the coded form was made from this response: a 304 renews a response, but its body is from the same request.
 * docs/decisions/0081
 */
function isMadeFrom(coded: Stored, of: Stored, bodyBytes: number): boolean {
  return (
    coded.requestAt === of.requestAt &&
    coded.varyKey === of.varyKey &&
    coded.vary.join() === of.vary.join() &&
    coded.etag === of.etag &&
    coded.lastModifiedAt === of.lastModifiedAt &&
    firstValue(coded.headers, 'content-length') === String(bodyBytes)
  );
}
