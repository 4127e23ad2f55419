/** The health of a machine, as its metrics tell it, on the wire. Used by `wire-desk.ts`. docs/decisions/0682 */
import type { DataOf } from '#contract/operations.ts';
import type { MetricSample } from '#lib/metric-text.ts';

/** Metrics of all processes of this machine, and when they were read. */
export interface OwnMetrics {
  readonly at: number;
  readonly samples: readonly MetricSample[];
}

type Health = DataOf<'operator.getHealth'>;

const NAMES = {
  up: 'causeway_part_up',
  restarts: 'causeway_part_restarts_total',
  head: 'causeway_feed_head_revision',
  applied: 'causeway_feed_applied_revision',
  edges: 'causeway_feed_connected_edges',
  rejected: 'causeway_feed_rejected_resources',
  waitingFiles: 'causeway_log_files_waiting',
  shippedFiles: 'causeway_log_files_shipped_total',
  lostLines: 'causeway_log_lost_lines_total',
  bytes: 'causeway_database_bytes',
  clockAhead: 'causeway_database_clock_ahead_seconds',
  synchronous: 'causeway_database_synchronous',
  certificates: 'causeway_certificates',
  firstEnd: 'causeway_certificates_expire_seconds',
  queueParts: 'causeway_sms_queue_parts',
  queueOldest: 'causeway_sms_queue_oldest_seconds',
} as const;

const WANTED: ReadonlySet<string> = new Set(Object.values(NAMES));

export function isHealthMetric(name: string): boolean {
  return WANTED.has(name);
}

export function healthOf(samples: readonly MetricSample[]): Omit<Health, 'at' | 'controls' | 'database'> & {
  readonly database: Omit<Health['database'], 'engine'>;
} {
  const of = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    samples.filter((sample) => {
      return sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
    });
  const figure = (name: string, labels?: Readonly<Record<string, string>>) => {
    const found = of(name, labels);
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  };
  const ending = (ends: string) => figure(NAMES.certificates, { ends });
  const synchronous = figure(NAMES.synchronous);
  return {
    parts: of(NAMES.up)
      .map(({ labels: { part = '' }, value }) => {
        return { part, up: value === 1, restarts: figure(NAMES.restarts, { part }) ?? 0 };
      })
      .sort((one, other) => one.part.localeCompare(other.part)),
    feed: {
      head_revision: figure(NAMES.head),
      applied_revision: figure(NAMES.applied),
      connected_edges: figure(NAMES.edges),
      rejected: figure(NAMES.rejected),
    },
    logs: {
      waiting_files: figure(NAMES.waitingFiles),
      shipped_files: figure(NAMES.shippedFiles),
      lost_lines: figure(NAMES.lostLines),
    },
    database: {
      bytes: figure(NAMES.bytes),
      clock_ahead_seconds: figure(NAMES.clockAhead),
      ...(synchronous !== undefined && { is_synchronous: synchronous === 1 }),
    },
    certificates: {
      expired: ending('expired'),
      within_7_days: ending('7d'),
      within_14_days: ending('14d'),
      within_30_days: ending('30d'),
      first_ends_in_seconds: figure(NAMES.firstEnd),
    },
    sms: of(NAMES.queueParts).map(({ labels: { state = '' }, value }) => {
      return { state, parts: value, oldest_seconds: figure(NAMES.queueOldest, { state }) ?? 0 };
    }),
  };
}
