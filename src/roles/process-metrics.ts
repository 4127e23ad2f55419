/** Metrics of Node and of the process: prom-client's own, except the delays of the event loop, which are measured here. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/**
 * prom-client measures the event loop with a timer that wakes an idle process every 10 ms: 0.35 % of a core in each of our
 * processes. The timer cannot be left out, so it is made so slow that it does nothing. docs/decisions/0518
 */
const NEVER_MS = 24 * 3_600_000;

export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  replaceLoopDelays(registry);
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
