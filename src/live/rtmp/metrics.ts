/** Metrics of RTMP connections. Every label has a closed set of values. */
import type { Registry } from 'prom-client';
import { metricsOf } from '#lib/metrics.ts';
import type { ConnectionEnd } from './ends.ts';
import type { RtmpRole } from './session.ts';

export interface RtmpMetrics {
  countEnd(end: ConnectionEnd): void;
}

export function createRtmpMetrics(
  registry: Registry,
  countConnections: () => Readonly<Record<RtmpRole, number>>,
): RtmpMetrics {
  const { counter, gauges } = metricsOf(registry);
  const ends = counter('causeway_rtmp_ended_connections_total', 'Closed RTMP connections, by reason.', ['reason']);
  gauges(
    'causeway_rtmp_connections',
    'Open RTMP connections: waiting (neither publishing nor playing yet), publishing or playing.',
    ['role'],
    () => Object.entries(countConnections()).map(([role, count]) => [{ role }, count]),
  );
  return { countEnd: (end) => ends.inc({ reason: end }) };
}
