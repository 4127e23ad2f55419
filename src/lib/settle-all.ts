/** `Promise.all` for work that shares something: it rejects only when none of it runs any more. */

/** Rejects with the first error, by position, when all have settled. */
export async function settleAll<T extends readonly unknown[]>(
  work: { readonly [K in keyof T]: Promise<T[K]> },
): Promise<{ readonly [K in keyof T]: T[K] }> {
  await Promise.allSettled(work);
  // `as`: of a mapped tuple the compiler forgets the length.
  return (await Promise.all(work)) as { readonly [K in keyof T]: T[K] };
}
