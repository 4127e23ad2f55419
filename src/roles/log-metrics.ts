/** How much of its log a process could not write, as a metric. */
import { Counter, type Registry } from 'prom-client';
import type { LogSink } from '#lib/log-sink.ts';

export function countLostLines(registry: Registry, sink: LogSink): void {
  new Counter({
    name: 'causeway_log_lost_lines_total',
    help: 'Log lines dropped because standard error did not accept them (full disk or stalled reader)',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(sink.lostLines);
    },
  });
}
