/** Metrics of the streams of hints. */
import type { Registry } from 'prom-client';
import { metricsOf } from '#lib/metrics.ts';
import type { Watches } from './watches.ts';

export function addWatchMetrics(registry: Registry, watches: Pick<Watches, 'size' | 'counts'>): void {
  const metrics = metricsOf(registry);
  metrics.gauge('causeway_api_watches', 'Open streams of hints (/event/watch)', () => watches.size);
  metrics.total('causeway_api_watch_hints_total', 'Hints sent to streams', () => watches.counts.hints);
  metrics.total(
    'causeway_api_watch_gaps_total',
    'Streams that could not go on where the one before had ended',
    () => watches.counts.gaps,
  );
  metrics.totals(
    'causeway_api_watches_ended_total',
    'Streams of hints that have ended: `bye` by this side, `gone` by the client, `stalled` by a client that read nothing',
    ['reason'],
    () => Object.entries(watches.counts.ended).map(([reason, count]) => [{ reason }, count] as const),
  );
}
