/**
 * Opens slices: stored ones, ones in flight, or by asking the origin once per slice (single flight). A slice is always
 * fetched to its end, even if its viewers leave; each viewer reads it along at its own pace. docs/decisions/0141
 */
import { spanBytes } from '#http/range.ts';
import type { EdgeContext } from '../../context.ts';
import type { OriginResponse } from '../../origin/origin-request.ts';
import { bringSlice, fetchAlone, fetchSlice, leaveSlice, type OpenedSlice, openShared } from './fetch.ts';
import type { SliceFlight, SliceHead } from './flights.ts';
import { sliceKey, sliceSpan } from './layout.ts';
import { findSlice, type SlicedObject } from './object.ts';

/** Limit of one reader's waits for one slice; after it the reader fetches the slice alone. */
const MAX_WAITS = 3;

export async function openSlice(edge: EdgeContext, object: SlicedObject, slice: number): Promise<OpenedSlice> {
  const key = sliceKey(object.visit.key, slice, object.generation);
  const underWay = () => edge.slices.find(key, object.index.requestAt);
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    const flight = underWay();
    const joined = flight && (await join(edge, object, slice, flight));
    if (joined !== undefined) return joined;
    const stored = await findSlice(edge, object, slice);
    if (stored !== undefined) return { kind: 'stored', ...stored };
    if (underWay() === undefined) return lead(edge, object, slice, key);
  }
  return fetchAlone(edge, object, slice);
}

/** Fetches a slice into the store if the store takes it, without keeping a reader. */
export function fetchAhead(edge: EdgeContext, object: SlicedObject, slice: number): void {
  const bytes = spanBytes(sliceSpan(slice, object.totalBytes));
  if (bytes > edge.store.maxBodyBytes || edge.store.refuses(bytes) !== undefined) return;
  void openSlice(edge, object, slice).then(leaveSlice, () => undefined); // a failure shows when the slice is read
}

/**
 * Starts the transfer of the slice by which the object was discovered. Returns a function that releases the reader held
 * for the slice's first use.
 */
export function adoptSlice(
  edge: EdgeContext,
  object: SlicedObject,
  slice: number,
  response: OriginResponse,
): () => void {
  const key = sliceKey(object.visit.key, slice, object.generation);
  const flight = edge.slices.begin(key, response.requestAt);
  const { shared, reader } = bringSlice(edge, object, slice, { response, mayStore: true, ...flight });
  flight.resolve({ kind: 'shared', shared });
  return () => reader.leave();
}

async function lead(edge: EdgeContext, object: SlicedObject, slice: number, key: string): Promise<OpenedSlice> {
  const flight = edge.slices.begin(key, edge.clock());
  let head: SliceHead = { kind: 'failed', failure: 'originReset' };
  try {
    const fetched = await fetchSlice(edge, object, slice);
    if (fetched.kind !== 'slice') {
      head = fetched;
      return fetched;
    }
    const opened = bringSlice(edge, object, slice, { ...fetched, ...flight });
    head = fetched.mayStore ? { kind: 'shared', shared: opened.shared } : { kind: 'unshared' };
    return opened;
  } finally {
    flight.resolve(head);
    if (head.kind !== 'shared') flight.land();
  }
}

/** Returns `undefined` if the flight ended too early to join: look again. */
async function join(
  edge: EdgeContext,
  object: SlicedObject,
  slice: number,
  { head, landed }: SliceFlight,
): Promise<OpenedSlice | undefined> {
  const known = await head;
  // The refusal or answer of another client's request does not apply to this one.
  if (known.kind === 'unshared' || known.kind === 'refused') return fetchAlone(edge, object, slice);
  if (known.kind !== 'shared') return known;
  if (known.shared.isOpen) return openShared(edge, object, slice, known.shared, landed);
  await landed;
  return undefined;
}
