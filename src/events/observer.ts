/** What looks for conditions: each observer for those of a few kinds, at its own interval. */
import type { ConditionKind, Observation } from '#model/condition.ts';

export interface Observer {
  /** Conditions of these kinds that it does not return do not hold. */
  readonly kinds: readonly [ConditionKind, ...ConditionKind[]];
  /** Name of the machine, for what only it can see; empty: one control looks for all. */
  readonly owner: string;
  readonly everyMs: number;
  /** Returns the conditions that hold. Rejects if that cannot be known; then nothing changes. */
  observe(now: number): Promise<readonly Observation[]>;
}
