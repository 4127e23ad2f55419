/** Reports problems with the cache disk: each is counted, and logged at most once a minute. */
import type { Registry } from 'prom-client';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import type { DiskProblem, OnDiskProblem } from './disk/health.ts';

/** Time between two log lines about the same problem. */
const LOG_EVERY_MS = 60_000;

export function createProblemReport(log: Logger, registry: Registry): OnDiskProblem {
  const counter = metricsOf(registry).counter(
    'causeway_edge_store_problems_total',
    'Problems with the cache disk: storeFull, storeError, storeBusy (too slow) or damaged (a file was ignored).',
    ['problem'],
  );
  const loggedAt = new Map<DiskProblem, number>();
  return (problem, error) => {
    counter.inc({ problem });
    const now = performance.now();
    if (now - (loggedAt.get(problem) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return;
    loggedAt.set(problem, now);
    log.warn({ problem, err: error }, 'cannot use the cache disk; objects may be fetched again from the origin');
  };
}
