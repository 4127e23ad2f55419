/** A prefetch as it reaches an edge's worker, and what becomes of it there. */

/** One object that an edge is to have. */
export interface PrefetchRequest {
  /** Lower-case, no port: what a site is found by. */
  readonly host: string;
  /** Origin-form, as it goes to the origin. */
  readonly target: string;
  readonly scheme: 'http' | 'https';
}

/** A prefetch as it travels to the edges: a resource of the kind `prefetch`, under the key `prefetchKey`. */
export interface PrefetchSpec extends PrefetchRequest {
  readonly taskId: number;
  /** Which of the task's URLs it is, from 0. */
  readonly n: number;
  /** Whose task it is; absent in those of an earlier release. */
  readonly accountId?: number;
  /** Id of the domain; absent in those of an earlier release. */
  readonly siteId?: number;
}

/** The party that takes turns with others: the account or, if that is unknown, the host. */
export function prefetcherOf({ accountId, host }: Pick<PrefetchSpec, 'accountId' | 'host'>): string {
  return accountId === undefined ? host : String(accountId);
}

export function prefetchKey({ taskId, n }: Pick<PrefetchSpec, 'taskId' | 'n'>): string {
  return `${taskId}:${n}`;
}

export type PrefetchOutcome =
  /** The object is in this edge's store and fresh, fetched now or before. */
  | { readonly kind: 'stored' }
  /** Why not: one of the edge's own reasons, as in `X-Cache` and the access log. */
  | { readonly kind: 'failed'; readonly reason: string };
