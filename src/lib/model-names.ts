/** The names of a request's fields as the model has them. */

/** `account_id` → `accountId` */
type ModelName<S extends string> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<ModelName<Rest>>}`
  : S;

/** Returns the fields under the model's names. For fields whose values need no conversion. */
export function toModelNames<R extends object>(request: R) {
  const named = Object.entries(request).map(([name, value]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  // fromEntries forgets the names
  return Object.fromEntries(named) as { readonly [K in keyof R & string as ModelName<K>]: R[K] };
}
