/** Background validations of responses that are served stale meanwhile: one per key at a time. RFC 5861 §3 */
import type { RequestFacts } from '#http/stored.ts';
import { isErrorStatus } from '#http/validate.ts';
import type { EdgeContext, Refreshes, Visit } from '../context.ts';
import { discardBody } from '../origin/origin-request.ts';
import { streamToStore } from '../respond/stream.ts';
import { Holds } from '../store/holds.ts';
import type { CachedResponse } from '../store/store.ts';
import { askForWhole, type Exchanged } from './exchange.ts';

/**
 * Limit of concurrent refreshes: more would take the origins' connections from viewers. A later request refreshes the
 * others.
 */
const MAX_REFRESHES = 100;
/** A refresh is aborted after this time; the next stale answer starts another. */
const REFRESH_TIMEOUT_MS = 120_000;

export function createRefreshes(): Refreshes {
  const underWay = new Set<string>();
  return {
    start: (edge, visit, refresh) => {
      if (underWay.has(visit.key) || underWay.size >= MAX_REFRESHES) return;
      underWay.add(visit.key);
      const holds = new Holds(); // the request may end before the refresh does
      void refresh({ ...asPlainGet(visit), holds }, AbortSignal.timeout(REFRESH_TIMEOUT_MS))
        .catch((error: unknown) => edge.log.error({ err: error, key: visit.key }, 'refresh failed'))
        .finally(() => {
          holds.release();
          underWay.delete(visit.key);
        });
    },
  };
}

export async function refreshWhole(
  edge: EdgeContext,
  visit: Visit,
  stored: CachedResponse,
  signal: AbortSignal,
): Promise<void> {
  visit.holds.hold(stored.body);
  await storeRefreshed(await askForWhole(edge, visit, stored, [], { signal, onInterim: () => undefined }), signal);
}

/** Stores the result of a refresh. An error response does not replace the stored one. */
export async function storeRefreshed(result: Exchanged, signal: AbortSignal): Promise<void> {
  if (result.kind !== 'response') return;
  const { response, fill } = result;
  if (isErrorStatus(response.status) || fill === undefined) {
    fill?.writer.discard();
    return discardBody(response);
  }
  const giveUp = () => response.body.destroy(new Error('the refresh took too long'));
  signal.addEventListener('abort', giveUp, { once: true });
  await streamToStore(response.body, fill);
  signal.removeEventListener('abort', giveUp);
}

/** Makes the visit an unconditional GET of the whole: the viewer's request may be a HEAD, a range or conditional. */
function asPlainGet(visit: Visit): Visit {
  const { request } = visit;
  const facts: RequestFacts = {
    ...request.facts,
    method: 'GET',
    range: undefined,
    ifNoneMatch: undefined,
    ifModifiedSince: undefined,
  };
  return { ...visit, request: { ...request, method: 'GET', facts } };
}
