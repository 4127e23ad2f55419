/** Counters as a column of an SQLite table holds them. Pure. */
import type { MinuteCounters } from '../counters.ts';
import { fromRow, toRow } from '../journal.ts';

export function writeCounts(counts: MinuteCounters): string {
  return JSON.stringify(toRow(counts));
}

/** Reads the column `counts` of a row; `undefined` if there is no row or it holds something else. */
export function readCounts(
  row: Readonly<Record<string, unknown>> | undefined,
  domainId: number,
  minute: number,
): MinuteCounters | undefined {
  const counts = row === undefined ? undefined : fromRow(JSON.parse(String(row['counts'])));
  return counts && { ...counts, domainId, minute };
}
