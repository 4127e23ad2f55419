/** Counters of the traffic between this edge, its parents, and the edges below it. */
import type { Registry } from 'prom-client';
import { metricsOf } from '#lib/metrics.ts';
import type { TierAs } from './tier-fields.ts';

export interface TierMetrics {
  /** Counts an answer to an edge that fetches through this one. */
  countTierAnswer(as: TierAs): void;
  /** Counts a fetch of an edge that has parents. */
  countTierFetch(through: 'parent' | 'origin'): void;
  countTierFailure(): void;
  /** Counts bytes of bodies that came from parents. */
  countParentBytes(bytes: number): void;
}

export function createTierMetrics(registry: Registry): TierMetrics {
  const { counter, total } = metricsOf(registry);
  const answers = counter(
    'causeway_tier_requests_total',
    'Answers to edges that fetch through this one, by what they are; error: no origin answered.',
    ['as'],
  );
  const fetches = counter(
    'causeway_tier_fetches_total',
    'Fetches of an edge that has parents: answered by a parent, or asked of origins since no parent could answer.',
    ['through'],
  );
  const counts = { failures: 0, bytes: 0 };
  total('causeway_tier_failures_total', 'Requests that a parent did not answer.', () => counts.failures);
  total('causeway_tier_received_bytes_total', 'Bytes of bodies that came from parents.', () => counts.bytes);
  return {
    countTierAnswer: (as) => answers.inc({ as }),
    countTierFetch: (through) => fetches.inc({ through }),
    countTierFailure: () => {
      counts.failures++;
    },
    countParentBytes: (bytes) => {
      counts.bytes += bytes;
    },
  };
}
