/** What a peer may do now and then and not all the time: so many at once, and so many more with each second. Pure. */

export interface Budget {
  /** False: it was too much. */
  take(now: number): boolean;
}

export function createBudget({ atOnce, perSecond }: { readonly atOnce: number; readonly perSecond: number }): Budget {
  let left = atOnce;
  let lastAt = 0;
  return {
    take: (now) => {
      if (now > lastAt) left = Math.min(atOnce, left + ((now - lastAt) / 1000) * perSecond);
      lastAt = now; // also when the clock was set back
      left -= 1;
      return left >= 0;
    },
  };
}
