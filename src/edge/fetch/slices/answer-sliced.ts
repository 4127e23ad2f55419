/**
 * Answers with an object that is fetched and stored in slices: only the slices that the answer needs are fetched.
 * Edge rule 9
 */
import type { EdgeContext, Visit } from '../../context.ts';
import { discardBody } from '../../origin/origin-request.ts';
import type { EdgeAnswer } from '../../respond/edge-answer.ts';
import { errorAnswer } from '../../respond/error-page.ts';
import { canReadAlong, type LookedUp, lookUp } from '../../stages/look-up.ts';
import type { CachedResponse } from '../../store/store.ts';
import type { Viewer } from '../../viewer.ts';
import {
  answerResponse,
  answerShared,
  answerStored,
  canStandIn,
  errorOf,
  failureAnswer,
  questionOf,
  share,
  withLanding,
} from '../answers.ts';
import type { FlightRole } from '../collapse.ts';
import { waitForLanding } from '../collapse.ts';
import type { Exchanged } from '../exchange.ts';
import { storeRefreshed } from '../refresh.ts';
import { SlicedBody } from './body.ts';
import { discover } from './discover.ts';
import { indexKey, sliceAt } from './layout.ts';
import { describeObject, hasSlice, type SlicedObject } from './object.ts';

export type SlicedAnswer =
  /** `answer` is `undefined` if the client has left. */
  | { readonly kind: 'answer'; readonly answer: EdgeAnswer | undefined }
  /** The stored object has changed: look it up again. */
  | { readonly kind: 'again' }
  /** The object must be answered like one that is not sliced. */
  | { readonly kind: 'whole' };

/**
 * Limit of look-ups by one request for an object that changes; after it the object is fetched whole. Waits for other
 * requests count too.
 */
const MAX_ROUNDS = 8;

/**
 * Whether the site has its objects fetched in slices and no response under the object's own key answers the request.
 */
export function isSliceable(edge: EdgeContext, { visit, decision, now }: LookedUp): boolean {
  if (!visit.site.rangeBackSource || edge.slices.isUnsliced(visit.key, now)) return false;
  if (edge.origins.usesParents(visit.site)) return false; // the parent does it
  switch (decision.kind) {
    case 'miss':
    case 'complete':
    case 'gatewayTimeout':
      return true;
    case 'revalidate': // a stored part, or a stored error
      return decision.stored.range !== undefined || decision.stored.status !== 200;
    default:
      return false;
  }
}

/** One request, to be answered from an object in slices. */
interface Asking {
  readonly viewer: Viewer;
  readonly edge: EdgeContext;
  readonly visit: Visit;
  /** See `LookedUp`. */
  readonly landings: number;
}

/** Whether the slice that the answer begins with is stored; true if the answer needs no slice. */
export async function canBegin(edge: EdgeContext, object: SlicedObject, now: number): Promise<boolean> {
  const body = new SlicedBody(edge, object, NOBODY);
  const slice = firstSliceOf(answerStored(object.visit, { ...object.index, body }, 'HIT', now));
  return slice === undefined || (await hasSlice(edge, object, slice));
}

const NOBODY = { queuedBytes: 0 };

export async function answerSliced(
  viewer: Viewer,
  edge: EdgeContext,
  { visit, decision, landings }: LookedUp,
  rounds: number,
): Promise<SlicedAnswer> {
  const asking: Asking = { viewer, edge, visit, landings };
  const index = await lookUp(edge, { ...visit, key: indexKey(visit.key) }, visit.absentUpTo);
  const { decision: found, now } = index;
  if (found.kind === 'hit' || found.kind === 'stale') {
    const object = describeObject(visit, found.stored);
    const mayFetch = found.kind === 'hit' && decision.kind !== 'gatewayTimeout';
    const answer = object && (await answerObject(asking, object, { status: MARKS[found.kind], mayFetch, now }));
    if (answer?.kind === 'answer' && found.kind === 'stale' && found.shouldRevalidate)
      refresh(edge, visit, found.stored);
    if (answer !== undefined) return answer;
  }
  if (decision.kind === 'gatewayTimeout' || visit.request.method !== 'GET' || rounds >= MAX_ROUNDS) return WHOLE;
  const stale = found.kind === 'revalidate' || found.kind === 'stale' ? found.stored : undefined;
  return answerByDiscovery(asking, stale, rounds);
}

const MARKS = { hit: 'HIT', stale: 'STALE' } as const;
const WHOLE: SlicedAnswer = { kind: 'whole' };

interface Given {
  readonly status: 'HIT' | 'STALE' | 'REVALIDATED' | 'MISS';
  /** Whether the first slice of the answer may be fetched if it is not stored. The answer is then a miss. */
  readonly mayFetch: boolean;
  readonly now: number;
}

/** Returns `undefined` if the answer's first slice is not stored and may not be fetched. */
async function answerObject(
  { viewer, edge, visit }: Asking,
  object: SlicedObject,
  { status, mayFetch, now }: Given,
): Promise<SlicedAnswer | undefined> {
  const body = new SlicedBody(edge, object, viewer);
  const answer = answerStored(visit, { ...object.index, body }, status, now);
  const slice = firstSliceOf(answer);
  if (slice === undefined) return { kind: 'answer', answer };
  if (!mayFetch && !(await hasSlice(edge, object, slice))) return undefined;
  const opened = await body.openFirst(slice);
  void viewer.ended.then(() => body.leave()); // never rejects
  switch (opened.kind) {
    case 'stored':
      return { kind: 'answer', answer: { ...answer, isFromDisk: opened.isFromDisk } };
    case 'shared':
      return { kind: 'answer', answer: opened.isJoined ? answer : { ...answer, mark: { status: 'MISS' } } };
    case 'changed':
      return { kind: 'again' };
    case 'refused': // the client gets the origin's own answer
      return WHOLE;
    case 'failed':
      return { kind: 'answer', answer: failureAnswer(edge, opened.failure) };
  }
}

/** Returns the first slice that the answer reads; `undefined` if it needs none. */
function firstSliceOf({ body }: EdgeAnswer): number | undefined {
  if (body.kind !== 'pieces') return undefined;
  for (const piece of body.pieces) if (!Buffer.isBuffer(piece)) return sliceAt(piece.span.first);
  return undefined;
}

/**
 * Discovers the object under a flight. Other requests for it wait until there is an index, or an answer that they can
 * read along.
 */
async function answerByDiscovery(
  asking: Asking,
  stale: CachedResponse | undefined,
  waits: number,
): Promise<SlicedAnswer> {
  const { viewer, edge, visit, landings } = asking;
  const { request } = visit;
  const now = edge.clock();
  const { range } = request.facts;
  // The flight ignores the range: requests for all parts of the object need the same index.
  const shared = range === undefined ? request : { ...request, facts: { ...request.facts, range: undefined } };
  const role = edge.flights.enter(visit.key, shared, {
    waits,
    now,
    absentUpTo: visit.absentUpTo,
    landings,
    fits: (shared) => range === undefined && canReadAlong(visit, shared, now),
  });
  if (role.kind === 'join') return { kind: 'answer', answer: answerShared(edge, visit, role.shared, now) };
  if (role.kind === 'wait' && (await waitForLanding(role.ready, viewer.signal))) return { kind: 'again' };
  let sliced: SlicedAnswer = WHOLE;
  const answer = await withLanding(edge, visit, role, async () => {
    sliced = await discoverAndAnswer(asking, stale, role);
    return sliced.kind === 'answer' ? sliced.answer : undefined;
  });
  return sliced.kind === 'answer' ? { kind: 'answer', answer } : sliced;
}

async function discoverAndAnswer(
  asking: Asking,
  stale: CachedResponse | undefined,
  role: FlightRole,
): Promise<SlicedAnswer> {
  const { viewer, edge, visit } = asking;
  const discovered = await discover(edge, visit, stale, questionOf(viewer));
  switch (discovered.kind) {
    case 'object': {
      const { object, isConfirmed, release } = discovered;
      const status = isConfirmed ? 'REVALIDATED' : 'MISS';
      try {
        return (await answerObject(asking, object, { status, mayFetch: true, now: edge.clock() })) ?? WHOLE;
      } finally {
        release();
      }
    }
    case 'result':
      return answerResult(asking, stale, role, discovered.result);
    case 'again':
    case 'whole':
      return discovered;
  }
}

async function answerResult(
  asking: Asking,
  stale: CachedResponse | undefined,
  role: FlightRole,
  result: Exchanged,
): Promise<SlicedAnswer> {
  const { edge, visit } = asking;
  switch (result.kind) {
    case 'aborted':
      return { kind: 'answer', answer: undefined };
    case 'failed': {
      const instead = stale && (await standIn(asking, stale, 'unreachable'));
      if (instead !== undefined) return instead;
      if (stale === undefined) return { kind: 'answer', answer: failureAnswer(edge, result.failure) };
      // RFC 9111 §4.2.4, §5.2.2.2: a response that may not be served stale is answered with 504
      return { kind: 'answer', answer: errorAnswer(504, { status: 'ERROR', reason: result.failure }, edge.clock()) };
    }
    case 'validated': // `discover` returns a confirmed index as an object
      return { kind: 'again' };
    case 'response': {
      const error = errorOf(result.response);
      const instead = stale && error && (await standIn(asking, stale, error));
      if (instead === undefined) {
        const answer = answerResponse(edge, visit, share(edge, visit, role, result), false);
        return { kind: 'answer', answer: stale === undefined ? answer : { ...answer, isReplacement: true } };
      }
      result.fill?.writer.discard();
      discardBody(result.response);
      return instead;
    }
  }
}

/** Returns `undefined` if the stale object may not be served, or the answer's first slice is not stored. */
async function standIn(
  asking: Asking,
  stale: CachedResponse,
  failure: 'unreachable' | 'errorStatus',
): Promise<SlicedAnswer | undefined> {
  const { edge, visit } = asking;
  const object = describeObject(visit, stale);
  if (object === undefined || !(await canStandIn(edge, visit, stale, failure))) return undefined;
  return answerObject(asking, object, { status: 'STALE', mayFetch: false, now: edge.clock() });
}

/** Revalidates the object in the background, by its first slice. */
function refresh(edge: EdgeContext, visit: Visit, stale: CachedResponse): void {
  edge.refreshes.start(edge, visit, async (plain, signal) => {
    const discovered = await discover(edge, plain, stale, { signal, onInterim: () => undefined });
    if (discovered.kind === 'object') discovered.release();
    if (discovered.kind === 'result') await storeRefreshed(discovered.result, signal);
  });
}
