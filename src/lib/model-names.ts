/** The model's names for members that the wire and the database name with underscores. */

/** `account_id` → `accountId` */
type ModelName<S extends string> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<ModelName<Rest>>}`
  : S;

type ModelValue<V> = null extends V ? Exclude<V, null> | undefined : V;

/** Returns the members under the model's names; `null` becomes `undefined`. For values that need no other conversion. */
export function toModelNames<R extends object>(members: R) {
  const named = Object.entries(members).map(([name, value]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value ?? undefined,
  ]);
  // fromEntries forgets the names
  return Object.fromEntries(named) as { readonly [K in keyof R & string as ModelName<K>]: ModelValue<R[K]> };
}
