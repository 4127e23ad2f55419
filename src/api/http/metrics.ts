/**
 * Counters of the interface. Labels are operations and outcomes of the contract, never anything that a caller writes.
 */
import { Histogram, type Registry } from 'prom-client';
import type { ErrorCode } from '#contract/errors.ts';
import type { RouteName } from '#contract/routes.ts';
import { metricsOf } from '#lib/metrics.ts';

export interface ApiMetrics {
  /** `operation` is absent for an unknown path or an invalid request. */
  count(operation: RouteName | undefined, outcome: 'ok' | ErrorCode, durationMs: number): void;
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export function createApiMetrics(registry: Registry): ApiMetrics {
  const requests = metricsOf(registry).counter(
    'causeway_api_requests_total',
    'Requests to the management and SMS API, by operation and outcome (`ok` or a code from docs/errors.md)',
    ['operation', 'outcome'],
  );
  const durations = new Histogram({
    name: 'causeway_api_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response, by operation',
    labelNames: ['operation'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  return {
    count: (name, outcome, durationMs) => {
      const operation = name ?? 'none';
      requests.inc({ operation, outcome });
      durations.observe({ operation }, durationMs / 1000);
    },
  };
}
