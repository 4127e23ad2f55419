/**
 * An object stored in slices. Its index is the head of the whole object without a body; slices are found only through
 * it.
 */
import { isStrong } from '#http/entity-tag.ts';
import type { RawHeaders } from '#http/headers.ts';
import type { ByteSpan } from '#http/range.ts';
import { expectedBodyBytes } from '#http/store.ts';
import type { Stored } from '#http/stored.ts';
import { unconditionalHeaders } from '#http/validate.ts';
import type { EdgeContext, Visit } from '../../context.ts';
import { CLOCK_TOLERANCE_MS } from '../../stages/decide.ts';
import { Holds } from '../../store/holds.ts';
import { wrapBytes } from '../../store/memory-body.ts';
import { openStored, type ReadableBody } from '../../store/readable-body.ts';
import type { CachedResponse, CacheStore, Release, StoredBody } from '../../store/store.ts';
import { generationOf } from './check.ts';
import { indexKey, sliceKey, sliceSpan } from './layout.ts';

export interface SlicedObject {
  /** Visit of the request that the slices are fetched for. */
  readonly visit: Visit;
  readonly index: CachedResponse;
  readonly totalBytes: number;
  readonly generation: string;
}

/** Describes a sliced object. Returns `undefined` if its size is unknown or it has no strong validator. */
export function describeObject(visit: Visit, whole: Stored): SlicedObject | undefined {
  const totalBytes = expectedBodyBytes(whole);
  const generation = generationOf(whole);
  if (totalBytes === undefined || generation === undefined) return undefined;
  return { visit, index: { ...whole, body: NO_BYTES }, totalBytes, generation };
}

export function putIndex(store: CacheStore, { visit, index }: SlicedObject): void {
  store.put(indexKey(visit.key), index, visit.options);
}

/** Discards the index. Its slices become unreachable, since they are older than any later index. */
export function discardIndex(store: CacheStore, visit: Visit, index: CachedResponse): void {
  store.remove(indexKey(visit.key), index);
}

/** A stored slice, held until `release`, which must be called in the end. */
export interface StoredSlice extends ReadableBody {
  readonly release: Release;
}

/** Whether a slice is stored and can be read. */
export async function hasSlice(
  edge: Pick<EdgeContext, 'store' | 'clock'>,
  object: SlicedObject,
  slice: number,
): Promise<boolean> {
  const found = await findSlice(edge, object, slice);
  found?.release();
  return found !== undefined;
}

/**
 * Returns a stored slice, held; `undefined` if there is none. A purge, an invalidation or expiry removes the index
 * only: slices requested before the index are ignored, and so are those of a discarded object, even if the next object
 * claims to have the same bytes.
 */
export async function findSlice(
  { store, clock }: Pick<EdgeContext, 'store' | 'clock'>,
  object: SlicedObject,
  slice: number,
): Promise<StoredSlice | undefined> {
  const { visit, index, totalBytes, generation } = object;
  const key = sliceKey(visit.key, slice, generation);
  const { first, last } = sliceSpan(slice, totalBytes);
  const latest = clock() + CLOCK_TOLERANCE_MS; // a later time is from before the clock was set back, and says nothing
  const isIt = ({ requestAt, body }: CachedResponse) => {
    return requestAt >= index.requestAt && requestAt <= latest && body.sizeBytes === last - first + 1;
  };
  const entry = await store.find(key);
  // Another worker may have stored it meanwhile.
  const found = entry?.variants.find(isIt) ?? (await store.findNewer(key, entry))?.variants.find(isIt);
  const holds = new Holds();
  const opened = found && (await openStored(found, holds));
  if (opened !== undefined) return { ...opened, release: () => holds.release() };
  holds.release();
  return undefined;
}

export function putSlice(
  store: CacheStore,
  { visit, totalBytes, generation }: SlicedObject,
  slice: number,
  response: CachedResponse,
): void {
  const range = { ...sliceSpan(slice, totalBytes), complete: totalBytes };
  // The head of the object is in the index.
  const bare = { ...response, status: 206, headers: [], vary: [], varyKey: '', varyHeaders: [], range };
  store.put(sliceKey(visit.key, slice, generation), bare, visit.options);
}

/**
 * Returns the request's fields for a part of the object. `If-Range` lets an origin that has another object by now say
 * so. RFC 9110 §13.1.5
 */
export function partHeaders({ visit, index }: SlicedObject, span: ByteSpan): RawHeaders {
  const { etag } = index;
  return [...spanHeaders(visit, span), ...(etag !== undefined && isStrong(etag) ? ['If-Range', etag] : [])];
}

/** Returns the request's fields for an unconditional range. */
export function spanHeaders({ request }: Visit, { first, last }: ByteSpan): RawHeaders {
  return [...unconditionalHeaders(request.headers), 'Range', `bytes=${first}-${last}`];
}

const NO_BYTES: StoredBody = wrapBytes(Buffer.alloc(0));
