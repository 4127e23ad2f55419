/** Fetches a slice. Its head proves that it belongs to the object; its body is stored and read at the same time. */
import { type ByteSpan, spanBytes } from '#http/range.ts';
import type { EdgeContext } from '../../context.ts';
import { discardBody, type OriginResponse } from '../../origin/origin-request.ts';
import { asReadable } from '../../origin/own/body.ts';
import type { FetchRest } from '../../respond/follow-body.ts';
import { streamUnread } from '../../respond/stream.ts';
import { absentUpTo } from '../../stages/absence.ts';
import { SharedBody, type SharedReader } from '../../store/shared-body.ts';
import type { StoredBody } from '../../store/store.ts';
import { askForPart, judgeAnySize } from '../exchange.ts';
import { isChange, isOfObject, readPartRange, wholeHead } from './check.ts';
import type { NoSlice, OwnFlight } from './flights.ts';
import { sliceSpan } from './layout.ts';
import { discardIndex, partHeaders, putSlice, type SlicedObject, type StoredSlice } from './object.ts';

export type OpenedSlice =
  | ({ readonly kind: 'stored' } & StoredSlice)
  /**
   * A slice in transit. The caller owns `reader` and must leave it in the end. `landed` resolves when the slice is
   * stored or will not be.
   */
  | {
      readonly kind: 'shared';
      readonly shared: SharedBody;
      readonly reader: SharedReader;
      readonly fetchRest: FetchRest;
      readonly landed: Promise<void>;
      /** Another request has asked the origin for it. */
      readonly isJoined: boolean;
    }
  | NoSlice;

/** Releases a slice whose bytes are not, or no longer, read. */
export function leaveSlice(opened: OpenedSlice): void {
  if (opened.kind === 'stored') opened.release();
  if (opened.kind === 'shared') opened.reader.leave();
}

export async function fetchAlone(edge: EdgeContext, object: SlicedObject, slice: number): Promise<OpenedSlice> {
  const fetched = await fetchSlice(edge, object, slice);
  if (fetched.kind !== 'slice') return fetched;
  const { promise, resolve } = Promise.withResolvers<void>();
  return bringSlice(edge, object, slice, { ...fetched, landed: promise, land: resolve });
}

interface FetchedSlice {
  readonly kind: 'slice';
  readonly response: OriginResponse;
  readonly mayStore: boolean;
}

export async function fetchSlice(
  edge: EdgeContext,
  object: SlicedObject,
  slice: number,
): Promise<FetchedSlice | NoSlice> {
  const { visit, index, totalBytes } = object;
  const part = await fetchPart(edge, object, sliceSpan(slice, totalBytes));
  if (part.kind === 'changed') {
    discardIndex(edge.store, visit, index);
    edge.slices.noteChanged(visit.key, index.requestAt, edge.clock());
  }
  if (part.kind !== 'part') return part;
  const { response } = part;
  const { kind } = judgeAnySize(edge, visit, { ...response, ...wholeHead(response, totalBytes) });
  return { kind: 'slice', response, mayStore: kind === 'store' };
}

/** Fetches part of an object and checks that its head belongs to the object. */
async function fetchPart(
  edge: EdgeContext,
  object: SlicedObject,
  span: ByteSpan,
): Promise<{ readonly kind: 'part'; readonly response: OriginResponse } | NoSlice> {
  const { visit, index } = object;
  const question = { signal: new AbortController().signal, onInterim: () => undefined };
  const result = await askForPart(edge, visit, partHeaders(object, span), undefined, question);
  if (result.kind === 'failed') return result;
  if (result.kind !== 'response') return { kind: 'failed', failure: 'originReset' }; // aborted: the edge is stopping
  const { response } = result;
  const range = readPartRange(response, span);
  if (range !== undefined && isOfObject(index, range, response)) return { kind: 'part', response };
  discardBody(response);
  const { status } = response;
  return isChange(status) ? { kind: 'changed' } : { kind: 'refused', status };
}

export type SharedSlice = Extract<OpenedSlice, { kind: 'shared' }>;

/** Starts the transfer of the slice's body to the store and its readers. */
export function bringSlice(
  edge: EdgeContext,
  object: SlicedObject,
  slice: number,
  { response, mayStore, landed, land }: Omit<FetchedSlice, 'kind'> & Pick<OwnFlight, 'landed' | 'land'>,
): SharedSlice {
  const { visit, index, totalBytes } = object;
  const { requestAt, responseAt } = response;
  const sizeBytes = spanBytes(sliceSpan(slice, totalBytes));
  const stored = { ...index, requestAt, responseAt };
  const shared = new SharedBody(stored, sizeBytes, edge.lag.open());
  const writer = edge.store.openWriter(sizeBytes);
  if (!mayStore) writer.discard();
  const opened = { ...openShared(edge, object, slice, shared, landed), isJoined: false };
  const onWhole = (body: StoredBody) => {
    if (requestAt <= absentUpTo(edge.sites, visit, undefined, edge.clock())) return;
    putSlice(edge.store, object, slice, { ...stored, body });
  };
  const onEnd = () => {
    shared.break(); // no effect on a whole body
    land();
  };
  // Never rejects. Only readers of the slice wait for it.
  void streamUnread(response.body, { writer, announcedBytes: sizeBytes, shared, onWhole, onEnd }, edge);
  return opened;
}

/** Opens a reader on a slice in flight. */
export function openShared(
  edge: EdgeContext,
  object: SlicedObject,
  slice: number,
  shared: SharedBody,
  landed: Promise<void>,
): SharedSlice {
  const { first, last } = sliceSpan(slice, object.totalBytes);
  const fetchRest: FetchRest = async (at) => {
    const part = await fetchPart(edge, object, { first: first + at, last });
    return part.kind === 'part' ? asReadable(part.response.body) : undefined;
  };
  return { kind: 'shared', shared, reader: shared.open(0), fetchRest, landed, isJoined: true };
}
