/** Asks an origin for the first wanted slice: the response shows whether the object can be sliced, and describes it. */
import { validationHeaders } from '#http/validate.ts';
import type { EdgeContext, Visit } from '../../context.ts';
import { discardBody, type OriginResponse } from '../../origin/origin-request.ts';
import type { CachedResponse } from '../../store/store.ts';
import { admit, askForPart, type Exchanged, type ExchangeOptions, judgeAnySize } from '../exchange.ts';
import { isChange, readPartRange, wholeHead } from './check.ts';
import { firstSliceFor, indexKey, SLICE_BYTES, sliceSpan } from './layout.ts';
import { describeObject, discardIndex, putIndex, type SlicedObject, spanHeaders } from './object.ts';
import { adoptSlice } from './open.ts';

export type Discovered =
  /** `release` must be called once the first slice has been opened, or if it will not be. */
  | {
      readonly kind: 'object';
      readonly object: SlicedObject;
      readonly isConfirmed: boolean;
      readonly release: () => void;
    }
  /**
   * The response is not a slice, or holds the whole object: it is handled like that of an object that is not sliced.
   */
  | { readonly kind: 'result'; readonly result: Exchanged }
  /** The stored index was out of date and is discarded: look up again. */
  | { readonly kind: 'again' }
  /** The object cannot be sliced. */
  | { readonly kind: 'whole' };

/** Discovers the object. `stale` is an index to validate, if there is one. */
export async function discover(
  edge: EdgeContext,
  visit: Visit,
  stale: CachedResponse | undefined,
  question: Pick<ExchangeOptions, 'signal' | 'onInterim'>,
): Promise<Discovered> {
  const slice = firstSliceFor(visit.request.facts.range);
  const headers = [...validationHeaders([], stale), ...spanHeaders(visit, sliceSpan(slice))];
  const result = await askForPart(edge, { ...visit, key: indexKey(visit.key) }, headers, stale, question);
  if (result.kind === 'validated') {
    const object = describeObject(visit, result.stored);
    return object === undefined
      ? whole(edge, visit)
      : { kind: 'object', object, isConfirmed: true, release: () => undefined };
  }
  if (result.kind !== 'response') return { kind: 'result', result };
  const { response } = result;
  if (response.status === 304 || (response.status === 416 && stale !== undefined)) {
    discardBody(response);
    if (stale !== undefined) discardIndex(edge.store, visit, stale);
    return { kind: 'again' };
  }
  if (stale !== undefined && isChange(response.status)) discardIndex(edge.store, visit, stale);
  if (response.status === 206) return readObject(edge, visit, slice, response);
  if (response.status === 416 && !isForClient(visit)) {
    discardBody(response);
    return whole(edge, visit);
  }
  return { kind: 'result', result: { ...result, ...admit(edge, visit, response) } };
}

function readObject(edge: EdgeContext, visit: Visit, slice: number, response: OriginResponse): Discovered {
  const range = readPartRange(response, sliceSpan(slice));
  if (range === undefined) {
    discardBody(response);
    return whole(edge, visit);
  }
  const head = { ...response, ...wholeHead(response, range.complete) };
  // The slice is the whole object: it is handled like an object that is not sliced, unless the client wants a part of
  // it.
  if (range.complete <= SLICE_BYTES && visit.request.facts.range === undefined) {
    return { kind: 'result', result: { kind: 'response', response: head, ...admit(edge, visit, head) } };
  }
  const admission = judgeAnySize(edge, visit, head);
  const object = admission.kind === 'store' ? describeObject(visit, admission.stored) : undefined;
  if (object === undefined) {
    discardBody(response);
    return whole(edge, visit);
  }
  putIndex(edge.store, object);
  return { kind: 'object', object, isConfirmed: false, release: adoptSlice(edge, object, slice, response) };
}

/** Whether the response also answers the client's own range: not if `If-Range` makes the range conditional. */
function isForClient({ request: { facts } }: Visit): boolean {
  return facts.range !== undefined && facts.ifRange === undefined;
}

function whole(edge: EdgeContext, visit: Visit): Discovered {
  edge.slices.noteUnsliced(visit.key, edge.clock());
  return { kind: 'whole' };
}
