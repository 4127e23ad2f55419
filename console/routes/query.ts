/** How filters are written into addresses, and read out of addresses that anybody may have written. */

/** Empty values are left out. */
export function withQuery(path: string, values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** The first of `known` unless another one is given. */
export function oneOf<const V extends string>(known: readonly [V, ...V[]], given: string | null): V {
  return known.find((value) => value === given) ?? known[0];
}

export function digitsOf(given: string | null): string {
  return /^\d{1,15}$/.test(given ?? '') ? (given ?? '') : '';
}

/** The first page is not said. */
export function writePage(page = 1): string {
  return page === 1 ? '' : String(page);
}

export function readPage(query: URLSearchParams): number {
  return Number(digitsOf(query.get('page'))) || 1;
}
