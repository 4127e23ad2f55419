/** The counters of RTMP's connections. Every label has a closed set of values. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ConnectionEnd } from './ends.ts';
import type { RtmpRole } from './session.ts';

export interface RtmpMetrics {
  countEnd(end: ConnectionEnd): void;
}

export function createRtmpMetrics(
  registry: Registry,
  countConnections: () => Readonly<Record<RtmpRole, number>>,
): RtmpMetrics {
  const registers = [registry];
  const ends = new Counter({
    name: 'causeway_rtmp_ended_connections_total',
    help: 'Closed RTMP connections, by reason.',
    labelNames: ['reason'],
    registers,
  });
  new Gauge({
    name: 'causeway_rtmp_connections',
    help: 'Open RTMP connections: waiting (neither publishing nor playing yet), publishing or playing.',
    labelNames: ['role'],
    registers,
    collect() {
      for (const [role, count] of Object.entries(countConnections())) this.set({ role }, count);
    },
  });
  return { countEnd: (end) => ends.inc({ reason: end }) };
}
