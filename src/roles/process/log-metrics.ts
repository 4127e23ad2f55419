/** A metric of the log lines that a process could not write. */
import type { Registry } from 'prom-client';
import type { LogSink } from '#lib/log-sink.ts';
import { metricsOf } from '#lib/metrics.ts';

export function countLostLines(registry: Registry, sink: LogSink): void {
  metricsOf(registry).total(
    'causeway_log_lost_lines_total',
    'Log lines dropped because standard error did not accept them (full disk or stalled reader)',
    () => sink.lostLines,
  );
}
