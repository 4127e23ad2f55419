/** Stages 6 to 9 of a request that the cache takes part in. */
import { unreachable } from '#lib/unreachable.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { canReadAlong, lookUp } from '../stages/look-up.ts';
import { isReadable, openStored } from '../store/readable-body.ts';
import type { Viewer } from '../viewer.ts';
import { answerByFetch, answerPastCache, answerShared, answerStored } from './answers.ts';
import { waitForLanding } from './collapse.ts';
import { isPart } from './partial-response.ts';
import { refreshWhole } from './refresh.ts';
import { answerSliced, isSliceable } from './slices/answer-sliced.ts';

/**
 * Answers from the store, or by a fetch that other requests wait for. A request that waited for another's fetch looks
 * up again.
 */
export async function answerCacheable(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Omit<Visit, 'absentUpTo'>,
): Promise<EdgeAnswer | undefined> {
  for (let waits = 0; ; waits++) {
    const looked = await lookUp(edge, asked); // 6, 7
    const { visit, decision, others, now } = looked;
    let { landings } = looked;
    if (isSliceable(edge, looked)) {
      const sliced = await answerSliced(viewer, edge, looked, waits); // 6 to 9
      if (sliced.kind === 'again') continue;
      if (sliced.kind === 'answer') return sliced.answer;
      landings = edge.flights.landings; // this request's own flight may have landed
    }
    switch (decision.kind) {
      case 'hit': {
        const opened = await openStored(decision.stored, visit.holds);
        if (opened === undefined) continue;
        return { ...answerStored(visit, decision.stored, 'HIT', now), isFromDisk: opened.isFromDisk };
      }
      case 'stale':
        if (!(await isReadable(decision.stored.body, visit.holds))) continue;
        if (decision.shouldRevalidate) {
          edge.refreshes.start(edge, visit, (plain, signal) => refreshWhole(edge, plain, decision.stored, signal));
        }
        return answerStored(visit, decision.stored, 'STALE', now);
      case 'gatewayTimeout':
        return errorAnswer(504, { status: 'ERROR', reason: 'onlyIfCached' }, now);
      case 'bypass': // stage 5 has asked the same question
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
          landings,
          fits: (shared) => canReadAlong(visit, shared, now),
        });
        if (role.kind === 'join') return answerShared(edge, visit, role.shared, now);
        if (role.kind === 'wait' && (await waitForLanding(role.ready, viewer.signal))) continue;
        return answerByFetch(viewer, edge, visit, { role, stored, others, prefix }); // 8, 9
      }
      default:
        return unreachable(decision);
    }
  }
}
