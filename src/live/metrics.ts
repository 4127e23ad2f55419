/** What the live process tells of its streams. */
import { Gauge, type Registry } from 'prom-client';
import type { LiveFile } from './live-file.ts';
import type { Owner } from './owner.ts';

export function addLiveMetrics(
  registry: Registry,
  owner: Pick<Owner, 'list'>,
  file: Pick<LiveFile, 'countEvents'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'causeway_live_broadcasts',
    help: 'Broadcasts on air at this process, by where they come from: publish or origin.',
    labelNames: ['source'],
    registers,
    collect() {
      const counts = { publish: 0, origin: 0 };
      for (const { onAir } of owner.list()) if (onAir !== undefined) counts[onAir.source]++;
      for (const [source, count] of Object.entries(counts)) this.set({ source }, count);
    },
  });
  new Gauge({
    name: 'causeway_live_events_waiting',
    help: 'Begins and ends of broadcasts that control has not taken yet.',
    registers,
    collect() {
      this.set(file.countEvents());
    },
  });
}
