/** Leases: work that one control at a time does, or a fixed number of them. Which rows a control asks for. Pure. */

export interface WantedLease {
  readonly name: string;
  /** Number of controls that may hold it at the same time, from 1. */
  readonly holders: number;
}

export interface StoredLease {
  readonly name: string;
  readonly holder: string;
  /** Whether it has not ended, by the database's clock. */
  readonly isLive: boolean;
}

/** Names of the rows of a lease: one for each holder, the first with the name of the lease itself. */
export function leaseRows({ name, holders }: WantedLease): readonly string[] {
  return Array.from({ length: holders }, (_, n) => (n === 0 ? name : `${name}/${n + 1}`));
}

/**
 * Returns the rows that `holder` takes or renews, one at most of each lease, by lease: its own, or the first that nobody
 * holds.
 */
export function chooseLeases(
  wanted: readonly WantedLease[],
  stored: readonly StoredLease[],
  holder: string,
): ReadonlyMap<string, string> {
  const byName = new Map(stored.map((lease) => [lease.name, lease]));
  const isOwn = (row: string) => byName.get(row)?.holder === holder;
  const isFree = (row: string) => byName.get(row)?.isLive !== true;
  return new Map(
    wanted.flatMap((lease) => {
      const rows = leaseRows(lease);
      const row = rows.find(isOwn) ?? rows.find(isFree);
      return row === undefined ? [] : [[lease.name, row] as const];
    }),
  );
}
