/** Single flight with a second run: calls that arrive while the work runs share one more run, which begins after it. */

/**
 * Returns a function that runs `work`. Runs never overlap. Each call resolves, or rejects, with a run that began after
 * it.
 */
export function createSharedRuns(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    const run = work().finally(() => {
      current = undefined;
    });
    current = run;
    return run;
  };
  const beginNext = (): Promise<void> => {
    next = undefined;
    return begin();
  };
  return () => {
    if (next !== undefined) return next;
    if (current === undefined) return begin();
    next = current.then(beginNext, beginNext);
    return next;
  };
}
