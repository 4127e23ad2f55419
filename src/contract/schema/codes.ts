/** Codes of the wire for the values of the model: one table for both ways, and the list of codes. */

/** Named in the declarations of tables. */
export interface Codes<V extends string, C extends string> {
  /** The codes, in the order of the table. */
  readonly codes: readonly [C, ...C[]];
  readonly codeOf: Readonly<Record<V, C>>;
  readonly valueOf: Readonly<Record<C, V>>;
}

/** `codeOf` has a code of its own for each value, and is not empty. */
export function codes<V extends string, C extends string>(codeOf: Readonly<Record<V, C>>): Codes<V, C> {
  const byCode = Object.fromEntries(Object.entries(codeOf).map(([value, code]) => [code, value]));
  // `as`: entries forget the names of the table, and values that there are some.
  return { codes: Object.values(codeOf) as [C, ...C[]], codeOf, valueOf: byCode as Record<C, V> };
}
