/** Stages 6 to 9 of a request that the cache may answer. */
import { after, type Eventual } from '#lib/future.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { canReadAlong, type LookedUp, lookUp } from '../stages/look-up.ts';
import { isReadable, openStored } from '../store/readable-body.ts';
import type { Viewer } from '../viewer.ts';
import { answerByFetch, answerPastCache, answerShared, answerStored } from './answers.ts';
import { waitForLanding } from './collapse.ts';
import { isPart } from './partial-response.ts';
import { refreshWhole } from './refresh.ts';
import { answerSliced, isSliceable } from './slices/answer-sliced.ts';

type Asked = Omit<Visit, 'absentUpTo'>;

/**
 * Answers from the store or by a fetch that other requests may wait for. A request that has waited for another's fetch
 * looks up again; `waits` counts how often. Returns `undefined` if the client has left.
 */
export function answerCacheable(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Asked,
  waits = 0,
): Eventual<EdgeAnswer | undefined> {
  // 6, 7
  return after(lookUp(edge, asked), (looked) => {
    const next = isSliceable(edge, looked) ? answerInSlices : answerLookedUp;
    return next(viewer, edge, asked, looked, waits);
  });
}

async function answerInSlices(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Asked,
  looked: LookedUp,
  waits: number,
): Promise<EdgeAnswer | undefined> {
  const sliced = await answerSliced(viewer, edge, looked, waits); // 6 to 9
  if (sliced.kind === 'again') return answerCacheable(viewer, edge, asked, waits + 1);
  if (sliced.kind === 'answer') return sliced.answer;
  const { landings } = edge.flights; // this request's own discovery may have landed
  return answerLookedUp(viewer, edge, asked, { ...looked, landings }, waits);
}

function answerLookedUp(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Asked,
  looked: LookedUp,
  waits: number,
): Eventual<EdgeAnswer | undefined> {
  const { visit, decision, others, now } = looked;
  const again = () => answerCacheable(viewer, edge, asked, waits + 1);
  switch (decision.kind) {
    case 'hit':
      return after(openStored(decision.stored, visit.holds), (opened) => {
        if (opened === undefined) return again();
        return { ...answerStored(visit, decision.stored, 'HIT', now), isFromDisk: opened.isFromDisk };
      });
    case 'stale':
      return after(isReadable(decision.stored.body, visit.holds), (isThere) => {
        if (!isThere) return again();
        if (decision.shouldRevalidate) {
          edge.refreshes.start(edge, visit, (plain, signal) => refreshWhole(edge, plain, decision.stored, signal));
        }
        return answerStored(visit, decision.stored, 'STALE', now);
      });
    case 'gatewayTimeout':
      return errorAnswer(504, { status: 'ERROR', reason: 'onlyIfCached' }, now);
    case 'bypass': // stage 5 has already checked for this
      return answerPastCache(viewer, edge, visit, decision.reason);
    case 'revalidate':
    case 'miss':
    case 'complete': {
      const stored = decision.kind === 'revalidate' ? decision.stored : undefined;
      const prefix = decision.kind === 'complete' && isPart(decision.stored) ? decision.stored : undefined;
      const role = edge.flights.enter(visit.key, visit.request, {
        waits,
        now,
        absentUpTo: visit.absentUpTo,
        landings: looked.landings,
        fits: (shared) => canReadAlong(visit, shared, now),
      });
      if (role.kind === 'join') return answerShared(edge, visit, role.shared, now);
      const fetch = () => answerByFetch(viewer, edge, visit, { role, stored, others, prefix }); // 8, 9
      if (role.kind !== 'wait') return fetch();
      return after(waitForLanding(role.ready, viewer.signal), (hasLanded) => (hasLanded ? again() : fetch()));
    }
    default:
      return unreachable(decision);
  }
}
