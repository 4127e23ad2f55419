/** Stages 6 and 7 together: what is stored under the key, less what is absent, and what that says to do. */
import { absentUpTo } from './absence.ts';
import type { EdgeContext, Visit } from './context.ts';
import { decideRequest, type EdgeDecision } from './decide.ts';
import type { CacheEntry } from './store/store.ts';

export interface LookedUp extends EdgeDecision {
  readonly visit: Visit;
  readonly now: number;
}

export async function lookUp(edge: EdgeContext, asked: Omit<Visit, 'absentUpTo'>): Promise<LookedUp> {
  const found = await edge.store.find(asked.key); // 6
  const first = decideOn(edge, asked, found); // 7
  if (first.decision.kind === 'hit' || first.decision.kind === 'stale') return first;
  // Another worker may have stored since what this one would ask the origin for.
  const newer = await edge.store.findNewer(asked.key, found);
  return newer === undefined ? first : decideOn(edge, asked, newer);
}

function decideOn(edge: EdgeContext, asked: Omit<Visit, 'absentUpTo'>, entry: CacheEntry | undefined): LookedUp {
  const now = edge.clock();
  const visit: Visit = { ...asked, absentUpTo: absentUpTo(edge.sites, asked, entry, now) };
  return { visit, now, ...decideRequest(entry, visit.absentUpTo, asked.request.facts, now, asked.options) };
}
