/** Lists of entries and of things that are chosen. Pure. */

/** `entries` and those of `text`, which commas or line breaks divide; equal ones once. */
export function withEntries(entries: readonly string[], text: string): readonly string[] {
  const added = text.split(/[,\n]/).map((entry) => entry.trim());
  return [...new Set([...entries, ...added])].filter((entry) => entry !== '');
}

/** The keys with `key`, or without it if it is there. */
export function toggled<K extends string>(keys: ReadonlySet<K>, key: K): ReadonlySet<K> {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** The `n`th object a step up (-1) or down (1); the list as it is at its ends. */
export function moved<T>(objects: readonly T[], n: number, step: -1 | 1): readonly T[] {
  const [one, other] = [objects[n], objects[n + step]];
  if (one === undefined || other === undefined) return objects;
  return objects.with(n, other).with(n + step, one);
}
