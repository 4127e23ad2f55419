/**
 * A day's log file of one domain: the concatenation of its parts, which is a gzip file (RFC 1952 §2.2). It only grows.
 * docs/decisions/0435
 */
import type { Executor } from '#db/schema/schema.ts';
import { listLogParts } from '#db/tables/log-parts.ts';
import { type JoinedFile, joinBlobs } from './store/joined.ts';

export async function findDayFile(x: Executor, domainId: number, day: string): Promise<JoinedFile | undefined> {
  const parts = await listLogParts(x, domainId, day);
  return parts.length === 0 ? undefined : joinBlobs(parts);
}
