/**
 * The listener for Prometheus: the metrics of all processes of this machine in one answer, each labelled with its
 * process.
 */
import { createServer } from 'node:http';
import { AggregatorRegistry, type Counter, Gauge, Registry } from 'prom-client';
import { toOriginForm } from '#http/absolute-form.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import { addProcessMetrics, type CollectedMetrics, collectMetrics } from '../process/process-metrics.ts';

interface MetricsSource {
  readonly name: string;
  /** Returns `undefined` if the process did not answer in time. */
  collect(): Promise<readonly unknown[] | undefined>;
}

export interface SupervisorMetrics {
  readonly registry: Registry;
  readonly restarts: Counter<'part'>;
  readonly silent: Counter<'part'>;
  readonly up: Gauge<'part'>;
  readonly draining: Gauge;
}

const LABELS = { process: 'supervisor', role: 'supervisor' };

/** `version`: that of the release. */
export function createSupervisorMetrics(version: string): SupervisorMetrics {
  const registry = new Registry();
  addProcessMetrics(registry);
  const registers = [registry];
  const { counter, gauges } = metricsOf(registry);
  gauges('causeway_build_info', '1; the labels name the release and the Node that runs it', ['version', 'node'], () => [
    [{ version, node: process.version }, 1],
  ]);
  return {
    registry,
    restarts: counter('causeway_part_restarts_total', 'Restarts of a process part after it died', ['part']),
    silent: counter(
      'causeway_part_metrics_missing_total',
      'Collections for which a process part did not report its metrics in time',
      ['part'],
    ),
    up: new Gauge({
      name: 'causeway_part_up',
      help: '1 while the part is ready, else 0',
      labelNames: ['part'],
      registers,
    }),
    draining: new Gauge({
      name: 'causeway_workers_draining',
      help: 'Replaced edge workers and live processes that are finishing their connections',
      registers,
    }),
  };
}

export interface MetricsServerOptions {
  readonly listen: ListenAddress;
  readonly metrics: SupervisorMetrics;
  readonly sources: () => readonly MetricsSource[];
  readonly log: Logger;
}

export async function startMetricsServer(options: MetricsServerOptions): Promise<AsyncDisposable> {
  const { listen, log } = options;
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, (request, response) => {
    request.resume();
    const isMetrics = toOriginForm(request.url ?? '') === '/metrics'; // RFC 9112 §3.2.2
    if (!isMetrics || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(isMetrics ? 405 : 404, { 'content-type': 'text/plain' }).end();
      return;
    }
    collectAll(options).then(
      ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'cannot collect metrics');
        response.writeHead(500).end();
      },
    );
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: listen.host, port: listen.port }, resolve);
  });
  return {
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the sum of one metric's values in the metrics of a part. */
export function sumOf(metrics: readonly unknown[], name: string): number {
  // They come from `collectMetrics`, in processes of our own.
  const found = (metrics as CollectedMetrics).find((metric) => metric.name === name);
  return found?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
}

async function collectAll({
  metrics,
  sources,
  log,
}: MetricsServerOptions): Promise<{ contentType: string; text: string }> {
  const answers = await Promise.all(
    sources().map(async (source) => {
      const answer = await source.collect();
      if (answer === undefined) metrics.silent.inc({ part: source.name });
      return answer ?? [];
    }),
  );
  const own = await collectMetrics(metrics.registry, LABELS, log);
  // The others come from `collectMetrics` too, in processes of our own.
  const all = AggregatorRegistry.aggregate([own, ...answers.map((answer) => [...answer] as CollectedMetrics)]);
  return { contentType: all.contentType, text: await all.metrics() };
}
