/**
 * Answers an edge that fetches through this one. What concerns viewers (access rules, redirects, compression, headers
 * for browsers, log lines) is its matter; the key, the caching policy and the origins are this edge's.
 * docs/decisions/0732
 */
import { FieldNames } from '#http/field-names.ts';
import { currentAge } from '#http/freshness.ts';
import { withoutFields } from '#http/headers.ts';
import { after, type Eventual } from '#lib/future.ts';
import type { EdgeContext, Visit } from '../context.ts';
import { answerCacheable } from '../fetch/answer-cacheable.ts';
import { answerPastCache } from '../fetch/answers.ts';
import { ORIGIN_FAILURES } from '../reasons.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { cacheKey } from '../stages/cache-key.ts';
import { askedUncoded } from '../stages/encodings.ts';
import { planRequest } from '../stages/plan-request.ts';
import { withHopTaken } from '../stages/server-options.ts';
import { FRESH_FIELD, formatFresh, type TierFresh, type TierRequest } from '../tier-fields.ts';
import type { Viewer } from '../viewer.ts';

const NEVER = Number.NEGATIVE_INFINITY;
/** Name of this cache in `Cache-Status`: the edge that asked adds its own. */
const CACHE_NAME = 'causeway-parent';
const FRESH = new FieldNames([FRESH_FIELD.toLowerCase()]);

/** Returns `undefined` if the edge has left. */
export function answerTier(
  viewer: Viewer,
  edge: EdgeContext,
  { request, tier, holds }: Pick<Visit, 'request' | 'holds'> & { readonly tier: TierRequest },
): Eventual<EdgeAnswer | undefined> {
  const site = edge.sites.find(request.host);
  if (site?.id !== tier.siteId) return errorAnswer(409, { status: 'ERROR', reason: 'tierSite' }, edge.clock());
  return after(answer(viewer, edge, { request, site, holds }, tier), (made) => {
    const fresh = made && freshOf(made, edge.clock());
    if (fresh !== undefined) edge.metrics.countTierAnswer(fresh.as);
    return made && fresh ? withFresh(made, fresh) : made;
  });
}

function answer(
  viewer: Viewer,
  edge: EdgeContext,
  { request, site, holds }: Pick<Visit, 'request' | 'site' | 'holds'>,
  { hops, newerThanMs }: TierRequest,
): Eventual<EdgeAnswer | undefined> {
  const plan = planRequest(site, request);
  const asked = {
    request: askedUncoded(site, request),
    site,
    holds,
    key: cacheKey(site, request),
    options: plan.options,
    tierHops: hops,
    tierSince: newerThanMs === undefined ? NEVER : edge.clock() - newerThanMs,
  };
  switch (plan.kind) {
    case 'gatewayTimeout':
      return errorAnswer(504, { status: 'ERROR', reason: 'onlyIfCached' }, edge.clock());
    case 'bypass': {
      const visit = { ...asked, request: withHopTaken(asked.request), absentUpTo: NEVER };
      return answerPastCache(viewer, edge, visit, plan.reason);
    }
    case 'cache':
      return answerCacheable(viewer, edge, asked);
  }
}

/** Returns `undefined` for an answer that is this edge's own fault: then the edge that asked goes elsewhere. */
function freshOf({ mark, stored, admitted }: EdgeAnswer, now: number): TierFresh | undefined {
  if (mark.status === 'ERROR')
    return isOwnFault(mark.reason) ? undefined : { freshMs: 0, mayStore: false, as: 'error' };
  if (mark.status === 'STALE') return { freshMs: 0, mayStore: false, as: 'stale' };
  const head = stored ?? admitted;
  const freshMs = head === undefined ? 0 : Math.max(0, Math.floor(head.lifetimeMs - currentAge(head, now)));
  return { freshMs, mayStore: freshMs > 0, as: mark.status === 'HIT' ? 'hit' : 'miss' };
}

/** Whether another edge may well do better: this one could not ask an origin. */
function isOwnFault(reason: string): boolean {
  return reason === 'noSocket' || !Object.hasOwn(ORIGIN_FAILURES, reason);
}

function withFresh(made: EdgeAnswer, fresh: TierFresh): EdgeAnswer {
  // An origin's own field of this name would be taken for ours.
  const headers = [...withoutFields(made.headers, FRESH), FRESH_FIELD, formatFresh(fresh)];
  return { ...made, headers, cacheName: CACHE_NAME };
}
