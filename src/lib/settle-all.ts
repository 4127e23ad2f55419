/** `Promise.all` for work on a shared resource: it rejects only after all work has settled. */

/** Waits until all work has settled. Rejects with the first error by position. */
export async function settleAll<T extends readonly unknown[]>(
  work: { readonly [K in keyof T]: Promise<T[K]> },
): Promise<{ readonly [K in keyof T]: T[K] }> {
  await Promise.allSettled(work);
  // `as`: the compiler loses the length of a mapped tuple.
  return (await Promise.all(work)) as { readonly [K in keyof T]: T[K] };
}
