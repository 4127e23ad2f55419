/** Limits how often a peer may do something: a token bucket whose burst can be extended by earned credit. Pure. */

export interface Budget {
  /** Takes one. `earned`: total credit earned until now; it never falls. Returns false if the budget is exhausted. */
  take(now: number, earned?: number): boolean;
}

export interface BudgetLimits {
  readonly atOnce: number;
  readonly perSecond: number;
  /** Largest credit kept; absent if none can be earned. */
  readonly maxEarned?: number;
}

export function createBudget({ atOnce, perSecond, maxEarned = 0 }: BudgetLimits): Budget {
  let left = atOnce;
  let kept = 0;
  let lastAt = 0;
  let lastEarned = 0;
  return {
    take: (now, earned = 0) => {
      if (now > lastAt) left = Math.min(atOnce, left + ((now - lastAt) / 1000) * perSecond);
      lastAt = now; // even if the clock was set back
      kept = Math.min(maxEarned, kept + earned - lastEarned);
      lastEarned = earned;
      if (kept >= 1) kept -= 1;
      else left -= 1;
      return left >= 0;
    },
  };
}
