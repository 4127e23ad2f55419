/** How much of its log a process could not write, as a metric. */
import { Counter, type Registry } from 'prom-client';
import type { LogSink } from '#lib/log-sink.ts';

export function countLostLines(registry: Registry, sink: LogSink): void {
  new Counter({
    name: 'causeway_log_lost_lines_total',
    help: 'Lines of the log that standard error did not take: a full disk, or a reader that stalls',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(sink.lostLines);
    },
  });
}
