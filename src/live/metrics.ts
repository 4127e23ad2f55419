/** What the live process tells of its streams. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { HlsFile } from '#fanout/hls/files.ts';
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

/** Counts what edge workers ask for; viewers' own requests are the workers' to count. */
export function createHlsCounter(registry: Registry): (kind: HlsFile['kind']) => void {
  const requests = new Counter({
    name: 'causeway_live_hls_requests_total',
    help: 'Files of HLS that edge workers have asked for, by what they are: multivariant, media (playlists), init, segment, part.',
    labelNames: ['file'],
    registers: [registry],
  });
  return (file) => requests.inc({ file });
}
