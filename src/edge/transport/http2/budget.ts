/** What a peer may do now and then and not all the time: so many at once, and so many more with each second. Pure. */

export interface Budget {
  /**
   * `earned`: how many the peer has earned until now, by what cannot be had without them; it never falls. False: it was too much.
   */
  take(now: number, earned?: number): boolean;
}

export interface BudgetLimits {
  readonly atOnce: number;
  readonly perSecond: number;
  /** The most that is kept of what was earned; absent: nothing can be earned. */
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
      lastAt = now; // also when the clock was set back
      kept = Math.min(maxEarned, kept + earned - lastEarned);
      lastEarned = earned;
      if (kept >= 1) kept -= 1;
      else left -= 1;
      return left >= 0;
    },
  };
}
