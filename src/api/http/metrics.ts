/**
 * Counters of the interface. Labels are operations and outcomes of the contract, never anything that a caller writes.
 */
import { Histogram, type Registry } from 'prom-client';
import type { ErrorCode } from '#contract/errors/errors.ts';
import type { RouteName } from '#contract/routes.ts';
import { metricsOf } from '#lib/metrics.ts';

export interface ApiMetrics {
  /** Counts a refusal, if it is by a limit; `accountId` is absent for callers that are not known. */
  countLimit(outcome: 'ok' | ErrorCode, accountId: number | undefined): void;
  /** `operation` is absent for an unknown path or an invalid request. */
  count(operation: RouteName | undefined, outcome: 'ok' | ErrorCode, durationMs: number): void;
}

/** Refusals by a limit of the account, or of its token. */
const LIMITS: ReadonlySet<'ok' | ErrorCode> = new Set<ErrorCode>([
  'tooManyRequests',
  'domainLimit',
  'certificateLimit',
  'certificateRequestLimit',
  'purgeUrlLimit',
  'purgeDirectoryLimit',
  'prefetchLimit',
  'liveForbidLimit',
  'balanceTooLow',
]);
/** Accounts with series of their own; others share one, so that customers cannot add series without end. */
const MAX_ACCOUNTS = 200;

const DURATION_BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export function createApiMetrics(registry: Registry): ApiMetrics {
  const requests = metricsOf(registry).counter(
    'causeway_api_requests_total',
    'Requests to the management and SMS API, by operation and outcome (`ok` or a code from docs/errors.md)',
    ['operation', 'outcome'],
  );
  const limits = metricsOf(registry).counter(
    'causeway_api_limits_hit_total',
    'Requests refused by a limit, by its code and account; the first 200 accounts have series of their own, the rest `other`',
    ['limit', 'account'],
  );
  const accounts = new Set<number>();
  const durations = new Histogram({
    name: 'causeway_api_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response, by operation',
    labelNames: ['operation'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  return {
    countLimit: (outcome, accountId) => {
      if (!LIMITS.has(outcome)) return;
      if (accountId !== undefined && accounts.size < MAX_ACCOUNTS) accounts.add(accountId);
      const account = accountId === undefined || !accounts.has(accountId) ? 'other' : String(accountId);
      limits.inc({ limit: outcome, account });
    },
    count: (name, outcome, durationMs) => {
      const operation = name ?? 'none';
      requests.inc({ operation, outcome });
      durations.observe({ operation }, durationMs / 1000);
    },
  };
}
