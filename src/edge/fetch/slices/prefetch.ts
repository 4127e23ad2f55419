/** Prefetches all slices of an object. */
import type { EdgeContext, Visit } from '../../context.ts';
import type { OriginFailure, PrefetchFailure } from '../../reasons.ts';
import { lookUp } from '../../stages/look-up.ts';
import { type Discovered, discover } from './discover.ts';
import { indexKey, sliceAt } from './layout.ts';
import { describeObject, hasSlice, type SlicedObject } from './object.ts';
import { fetchAhead, openSlice } from './open.ts';

/** Discovers the object from its index if that is fresh, otherwise from the origin. */
export async function discoverSliced(edge: EdgeContext, visit: Visit, signal: AbortSignal): Promise<Discovered> {
  const { decision } = await lookUp(edge, { ...visit, key: indexKey(visit.key) }, visit.absentUpTo);
  const object = decision.kind === 'hit' ? describeObject(visit, decision.stored) : undefined;
  if (object !== undefined) return { kind: 'object', object, isConfirmed: true, release: () => undefined };
  const stale = decision.kind === 'revalidate' || decision.kind === 'stale' ? decision.stored : undefined;
  return discover(edge, visit, stale, { signal, onInterim: () => undefined });
}

/** Fetches all slices, two at a time. Returns `undefined` once all are stored, otherwise why not. */
export async function bringSlices(
  edge: EdgeContext,
  object: SlicedObject,
  signal: AbortSignal,
): Promise<PrefetchFailure | OriginFailure | undefined> {
  const lastSlice = sliceAt(object.totalBytes - 1);
  for (let slice = 0; slice <= lastSlice; slice++) {
    if (signal.aborted) return 'timeout';
    const opening = openSlice(edge, object, slice);
    if (slice < lastSlice) fetchAhead(edge, object, slice + 1);
    const opened = await opening;
    switch (opened.kind) {
      case 'stored':
        opened.release();
        break;
      case 'shared':
        opened.reader.leave();
        await opened.landed;
        if (!(await hasSlice(edge, object, slice))) return 'incomplete';
        break;
      case 'changed':
        return 'incomplete';
      case 'refused':
        return 'errorStatus';
      case 'failed':
        return opened.failure;
    }
  }
  return undefined;
}
