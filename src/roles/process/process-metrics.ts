/**
 * Metrics of Node and of the process: prom-client's own, except the delays of the event loop, which are measured here; and the
 * collection of a process's metrics.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Logger } from '#lib/logger.ts';

/**
 * prom-client measures the event loop with a timer that wakes an idle process every 10 ms: 0.35 % of a core in each of our
 * processes. The timer cannot be left out, so it is made so slow that it does nothing. docs/decisions/0518
 */
const NEVER_MS = 24 * 3_600_000;

export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  replaceLoopDelays(registry);
}

/** Metrics as another process gets them: the form of prom-client's `getMetricsAsJSON`. */
export type CollectedMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/**
 * Collects all metrics and adds `labels` to each value. A metric whose collector fails is left out and logged; the others
 * and the process are not affected. Never rejects.
 */
export async function collectMetrics(
  registry: Registry,
  labels: Readonly<Record<string, string>>,
  log: Pick<Logger, 'error'>,
): Promise<CollectedMetrics> {
  const metrics = await Promise.all(
    registry.getMetricsAsArray().map(async ({ name }) => {
      try {
        const metric = await registry.getSingleMetric(name)?.get();
        return metric && { ...metric, values: metric.values.map((value) => withLabels(value, labels)) };
      } catch (error) {
        log.error({ err: error, metric: name }, 'cannot collect a metric');
        return undefined;
      }
    }),
  );
  return metrics.filter((metric) => metric !== undefined);
}

function withLabels<T extends { labels: object }>(value: T, labels: Readonly<Record<string, string>>): T {
  // A metric's own labels stand first, and its own value of a label counts.
  return { ...value, labels: { ...value.labels, ...labels, ...value.labels } };
}

type Delays = Pick<ReturnType<typeof monitorEventLoopDelay>, 'min' | 'max' | 'mean' | 'stddev' | 'percentile'>;

const FIGURES: readonly {
  readonly name: string;
  readonly help: string;
  readonly aggregator: 'min' | 'max' | 'average';
  readonly read: (delays: Delays) => number;
}[] = [
  { name: 'min', help: 'shortest', aggregator: 'min', read: ({ min }) => min },
  { name: 'max', help: 'longest', aggregator: 'max', read: ({ max }) => max },
  { name: 'mean', help: 'mean', aggregator: 'average', read: ({ mean }) => mean },
  { name: 'stddev', help: 'standard deviation', aggregator: 'average', read: ({ stddev }) => stddev },
  { name: 'p50', help: '50th percentile', aggregator: 'average', read: (delays) => delays.percentile(50) },
  { name: 'p90', help: '90th percentile', aggregator: 'average', read: (delays) => delays.percentile(90) },
  { name: 'p99', help: '99th percentile', aggregator: 'average', read: (delays) => delays.percentile(99) },
];

/** Each turn of the loop is measured as it happens, so an idle loop is not woken. */
function replaceLoopDelays(registry: Registry): void {
  const delays = monitorEventLoopDelay({ samplePerIteration: true });
  delays.enable();
  const gauges = FIGURES.map(({ name: figure, help: what, aggregator }) => {
    const name = `nodejs_eventloop_lag_${figure}_seconds`;
    registry.removeSingleMetric(name);
    const help = `Time that a turn of the event loop took, without waiting, since the last collection: ${what}`;
    const collect = figure === 'min' ? setAll : () => undefined;
    return new Gauge({ name, help, registers: [registry], aggregator, collect });
  });

  /** One histogram has all figures; the first gauge that is collected sets them all. */
  function setAll(): void {
    const isMeasured = delays.count > 0;
    for (const [index, gauge] of gauges.entries())
      gauge.set(isMeasured ? (FIGURES[index]?.read(delays) ?? 0) / 1e9 : 0);
    delays.reset();
  }
}
