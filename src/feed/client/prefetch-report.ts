/** What an edge tells control of its prefetches. Pure. */
import type { FeedPosition } from '#model/feed-position.ts';
import type { PrefetchResultEntry } from '../store/edge-prefetches.ts';
import { MAX_FAILURE_CHARS, type PrefetchReport, type PrefetchReportResult } from '../wire/protocol.ts';

export function toPrefetchReport(
  edge: string,
  at: FeedPosition,
  results: readonly PrefetchResultEntry[],
): PrefetchReport {
  return { edge, at, results: results.map(toResult) };
}

function toResult({ spec: { taskId, n }, outcome }: PrefetchResultEntry): PrefetchReportResult {
  if (outcome.kind === 'stored') return { taskId, n };
  return { taskId, n, failure: outcome.reason.slice(0, MAX_FAILURE_CHARS) };
}
