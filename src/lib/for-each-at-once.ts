/** Asynchronous work for each of many items, for a bounded number of them at a time. */

/**
 * Begins with the items in order. Rejects with the first failure once the work in flight has ended; no further item is
 * begun after a failure.
 */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const lane = async () => {
    for (let next = left.next(); next.done !== true && failures.length === 0; next = left.next()) {
      await work(next.value).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (failures.length > 0) throw failures[0];
}
