/** Passive health of parents: one that fails repeatedly is not asked for a while. Pure: `now` is passed in. */
import { Lru } from '#lib/lru.ts';

/** Failures within `WINDOW_MS` after which a parent is out. */
const FAILURES_UNTIL_OUT = 3;
const WINDOW_MS = 10_000;
/** Time that a parent is out the first time; each further time in a row is twice as long, up to `MAX_OUT_MS`. */
const OUT_MS = 10_000;
const MAX_OUT_MS = 60_000;
const MAX_PARENTS = 1_000;

export interface ParentHealth {
  isOut(edge: string, now: number): boolean;
  noteAnswer(edge: string): void;
  /**
   * `slowSite`: the site whose request had no answer in time, which its origins may cause. Such failures count only if
   * requests of two sites had them.
   */
  noteFailure(edge: string, now: number, slowSite?: number): void;
}

interface Failure {
  readonly at: number;
  readonly slowSite: number | undefined;
}

interface State {
  /** Failures of late, oldest first. */
  readonly failures: readonly Failure[];
  readonly outUntil: number;
  /** How long it was out last; 0: not since its last answer. */
  readonly outMs: number;
}

const WELL: State = { failures: [], outUntil: Number.NEGATIVE_INFINITY, outMs: 0 };

export function createParentHealth(): ParentHealth {
  const states = new Lru<string, State>({ maxWeight: MAX_PARENTS });
  return {
    isOut: (edge, now) => {
      const { outUntil, outMs } = states.get(edge) ?? WELL;
      return now < outUntil && now >= outUntil - outMs; // not if the clock was set back
    },
    noteAnswer: (edge) => void states.delete(edge),
    noteFailure: (edge, now, slowSite) =>
      states.set(edge, afterFailure(states.get(edge) ?? WELL, { at: now, slowSite })),
  };
}

/** A parent that fails again right after its time out is out again at once. */
function afterFailure({ failures, outUntil, outMs }: State, failure: Failure): State {
  const now = failure.at;
  const recent = [...failures.filter(({ at }) => now - at < WINDOW_MS), failure];
  const isTrial = outMs > 0 && now >= outUntil;
  if (countOf(recent) < (isTrial ? 1 : FAILURES_UNTIL_OUT)) return { failures: recent, outUntil, outMs };
  const nextMs = outMs === 0 ? OUT_MS : Math.min(MAX_OUT_MS, outMs * 2);
  return { failures: [], outUntil: now + nextMs, outMs: nextMs };
}

function countOf(failures: readonly Failure[]): number {
  const sites = new Set(failures.flatMap(({ slowSite }) => slowSite ?? []));
  return sites.size > 1 ? failures.length : failures.filter(({ slowSite }) => slowSite === undefined).length;
}
