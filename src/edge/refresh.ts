/** Validations in the background, for responses that are served stale meanwhile: one per key at a time. RFC 5861 §3 */
import type { RequestFacts } from '#http/stored.ts';
import { isErrorStatus } from '#http/validate.ts';
import type { AskAgain, Refreshes, Visit } from './context.ts';
import { discardBody } from './exchange.ts';
import { streamToStore } from './respond/stream.ts';

/** More at once would take the origins' connections from viewers; the others are refreshed by a later request. */
const MAX_REFRESHES = 100;
/** A refresh is given up after this; the next stale answer starts another. */
const REFRESH_TIMEOUT_MS = 120_000;

export function createRefreshes(): Refreshes {
  const underWay = new Set<string>();
  return {
    start: (edge, visit, ask) => {
      if (underWay.has(visit.key) || underWay.size >= MAX_REFRESHES) return;
      underWay.add(visit.key);
      void refresh(asPlainGet(visit), ask)
        .catch((error: unknown) => edge.log.error({ err: error, key: visit.key }, 'refresh failed'))
        .finally(() => underWay.delete(visit.key));
    },
  };
}

async function refresh(visit: Visit, ask: AskAgain): Promise<void> {
  const signal = AbortSignal.timeout(REFRESH_TIMEOUT_MS);
  const result = await ask(visit, { signal, onInterim: () => undefined });
  if (result.kind !== 'response') return;
  // An error must not replace what still serves.
  if (isErrorStatus(result.response.status) || result.fill === undefined) discardBody(result.response);
  else {
    const { body } = result.response;
    const giveUp = () => body.destroy(new Error('the refresh took too long'));
    signal.addEventListener('abort', giveUp, { once: true });
    await streamToStore(body, result.fill);
    signal.removeEventListener('abort', giveUp);
  }
}

/** The viewer may have asked by HEAD, for a range or under conditions. */
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
