/** Metrics of a worker's live streams. */
import type { Registry } from 'prom-client';
import { metricsOf } from '#lib/metrics.ts';
import type { HlsFiles } from './hls-files.ts';
import type { Relays } from './relays.ts';
import type { Sessions } from './sessions.ts';
import type { StreamTable } from './stream-table.ts';

interface Counted {
  readonly sessions: Pick<Sessions, 'counts'>;
  readonly relays: Pick<Relays, 'size'>;
  readonly streams: Pick<StreamTable, 'isSynced'>;
  readonly files: Pick<HlsFiles, 'bytesHeld'>;
}

export function addLiveGauges({ sessions, relays, streams, files }: Counted, registry: Registry): void {
  const { gauge, gauges } = metricsOf(registry);
  gauges('causeway_edge_live_viewers', 'Viewers of live streams, by protocol: flv, websocket.', ['kind'], () => {
    const sum = { flv: 0, websocket: 0 };
    for (const { flv, websocket } of sessions.counts().values()) {
      sum.flv += flv;
      sum.websocket += websocket;
    }
    return Object.entries(sum).map(([kind, count]) => [{ kind }, count]);
  });
  gauge(
    'causeway_edge_live_relays',
    'Broadcasts that this worker relays from the live process to its viewers.',
    () => relays.size,
  );
  gauge('causeway_edge_live_synced', '1 while this worker is connected to the live process, else 0.', () =>
    streams.isSynced ? 1 : 0,
  );
  gauge(
    'causeway_edge_live_files_bytes',
    'Memory of this worker for playlists, parts and segments of live streams; at most 64 MiB.',
    () => files.bytesHeld,
  );
}
