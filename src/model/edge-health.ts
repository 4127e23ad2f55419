/** The checks of an edge, and the state that follows from their results. Pure. docs/decisions/0599 */
import type { OwnState } from './edge-state.ts';

/**
 * `workers`: every worker has reported lately. `disk`: the data directory can be written. `space`: no file system that
 * the edge writes to is nearly full. `clock`: the clock agrees with control's. `descriptors`: no process is about to
 * run out of file descriptors. `http`, `https`: the listener answers.
 */
export const HEALTH_CHECKS = ['workers', 'disk', 'space', 'clock', 'descriptors', 'http', 'https'] as const;
export type HealthCheck = (typeof HEALTH_CHECKS)[number];

/** The result of a check, as it is reported. */
export interface CheckResult {
  readonly check: HealthCheck;
  readonly ok: boolean;
  /** Why it failed, for people; absent: no reason is known. */
  readonly detail?: string;
}

/** Limit of `detail`. */
export const MAX_CHECK_DETAIL_CHARS = 200;

/** Share of a file system, or of the file descriptors of a process, from which it counts as full. */
export const FULL_SHARE = 0.95;
/** Share of a file system from which it is worth a warning. */
export const NEARLY_FULL_SHARE = 0.85;
/** Difference from control's clock that causes a warning. */
export const CLOCK_WARNING_MS = 5000;
/** Difference beyond which stored answers get a wrong age, and certificates may seem invalid. */
const CLOCK_LIMIT_MS = 60_000;
/** Consecutive failures after which a check has failed: a single one may be a moment without processor time. */
const FAILURES = 2;
/** Consecutive successes after which a failed check passes again. */
const SUCCESSES = 3;

/** The history of a check. */
export interface CheckHistory {
  readonly isFailed: boolean;
  /** Consecutive results that contradict `isFailed`. */
  readonly against: number;
  readonly detail: string | undefined;
}

/** A check that has run once: its first result counts at once. */
export function firstCheck(problem: string | undefined): CheckHistory {
  return { isFailed: problem !== undefined, against: 0, detail: problem };
}

/** `problem`: the latest result; `undefined` if the check passed. */
export function nextCheck(history: CheckHistory, problem: string | undefined): CheckHistory {
  const { isFailed } = history;
  const hasFailed = problem !== undefined;
  if (hasFailed === isFailed) return { isFailed, against: 0, detail: problem };
  const against = history.against + 1;
  if (against < (hasFailed ? FAILURES : SUCCESSES)) return { ...history, against };
  return { isFailed: hasFailed, against: 0, detail: problem };
}

/** An edge's own state, and the word for it on its health page. */
export interface OwnCondition {
  readonly state: OwnState;
  readonly word: OwnState | HealthCheck;
}

export interface OwnFacts {
  /** Whether every worker runs a set of settings. */
  readonly hasSettings: boolean;
  /** Whether control has ordered the drain. */
  readonly isOrderedToDrain: boolean;
  /** Whether the operator of the edge has ordered one. */
  readonly drainsItself: boolean;
  /** `undefined`: not every check has run yet. */
  readonly checks: readonly CheckResult[] | undefined;
}

/**
 * A drain that control has ordered is left out of the reported state, since control knows of it. The health page shows
 * either drain.
 */
export function ownCondition({ hasSettings, isOrderedToDrain, drainsItself, checks }: OwnFacts): OwnCondition {
  const beneath = conditionBeneath(hasSettings, checks);
  if (drainsItself) return { state: 'draining', word: 'draining' };
  return isOrderedToDrain ? { ...beneath, word: 'draining' } : beneath;
}

function conditionBeneath(hasSettings: boolean, checks: readonly CheckResult[] | undefined): OwnCondition {
  if (!hasSettings || checks === undefined) return { state: 'syncing', word: 'syncing' };
  const failed = checks.find(({ ok }) => !ok);
  return failed === undefined ? { state: 'ready', word: 'ready' } : { state: 'unhealthy', word: failed.check };
}

/**
 * How far the edge's clock is ahead of control's, by the `Date` of an answer. Control's clock is cut to whole seconds
 * there, so half a second is added; the answer is taken to be made halfway between the two instants. `undefined`: the
 * field is absent or not a date.
 */
export function clockOffsetMs(
  date: string | undefined,
  { sentAt, receivedAt }: { readonly sentAt: number; readonly receivedAt: number },
): number | undefined {
  const controlAt = Date.parse(date ?? '');
  return Number.isNaN(controlAt) ? undefined : Math.round((sentAt + receivedAt) / 2 - (controlAt + 500));
}

/** Returns the problem of a clock; `undefined` if there is none, or if its offset is unknown. */
export function clockProblem(offsetMs: number | undefined): string | undefined {
  if (offsetMs === undefined || Math.abs(offsetMs) <= CLOCK_LIMIT_MS) return undefined;
  const seconds = Math.round(Math.abs(offsetMs) / 1000);
  return `${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} control`;
}
