/** Stages 6 and 7: looks a key up in the store, discards absent responses, and decides what to do. */
import { decide } from '#http/decide.ts';
import { selectVariant } from '#http/variants.ts';
import { after, type Eventual } from '#lib/future.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { SharedBody } from '../store/shared-body.ts';
import type { CacheEntry } from '../store/store.ts';
import { absentUpTo } from './absence.ts';
import { decideRequest, type EdgeDecision, withoutStale } from './decide.ts';

export interface LookedUp extends EdgeDecision {
  readonly visit: Visit;
  readonly now: number;
  /** Number of flights that had landed before the look-up; see `Flights.landings`. */
  readonly landings: number;
}

/**
 * Looks up and decides; the stored body of the decision is held. `since`: responses requested at or before it count as
 * absent in any case.
 */
export function lookUp(edge: EdgeContext, asked: Asked, since = Number.NEGATIVE_INFINITY): Eventual<LookedUp> {
  const { landings } = edge.flights;
  // 6
  return after(edge.store.find(asked.key), (found) => {
    const first = decideOn(edge, asked, found, { since, landings }); // 7
    if (first.decision.kind === 'hit' || first.decision.kind === 'stale') return first;
    // Another worker may have stored the response that this one would fetch from the origin.
    return after(edge.store.findNewer(asked.key, found), (newer) => {
      return newer === undefined ? first : decideOn(edge, asked, newer, { since, landings });
    });
  });
}

type Asked = Omit<Visit, 'absentUpTo'>;
const NEVER = Number.NEGATIVE_INFINITY;

function decideOn(
  edge: EdgeContext,
  asked: Asked,
  entry: CacheEntry | undefined,
  before: { readonly since: number; readonly landings: number },
): LookedUp {
  const now = edge.clock();
  const visit: Visit = {
    ...asked,
    absentUpTo: Math.max(before.since, asked.tierSince ?? NEVER, absentUpTo(edge.sites, asked, entry, now)),
  };
  const first = decideRequest(entry, visit.absentUpTo, asked.request.facts, now, asked.options);
  // An edge that asks would store old bytes as fresh ones.
  const decided = visit.tierHops === undefined ? first : withoutStale(first);
  const isGone = 'stored' in decided.decision && !asked.holds.hold(decided.decision.stored.body);
  if (isGone) return decideOn(edge, asked, entry && { ...entry, variants: [] }, before);
  return { visit, now, landings: before.landings, ...decided };
}

/**
 * Whether a response that another request is fetching would be a hit for this one: its variant, fresh, and not purged.
 */
export function canReadAlong({ request, options, absentUpTo }: Visit, { stored }: SharedBody, now: number): boolean {
  if (stored.requestAt <= absentUpTo) return false;
  const selected = selectVariant([stored], request.facts, options);
  return selected !== undefined && decide(request.facts, selected, now, options).kind === 'hit';
}
