/** Figures of live streams of a worker. */
import { Gauge, type Registry } from 'prom-client';
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
  const registers = [registry];
  new Gauge({
    name: 'causeway_edge_live_viewers',
    help: 'Viewers of live streams, by protocol: flv, websocket.',
    labelNames: ['kind'],
    registers,
    collect() {
      const sum = { flv: 0, websocket: 0 };
      for (const { flv, websocket } of sessions.counts().values()) {
        sum.flv += flv;
        sum.websocket += websocket;
      }
      this.set({ kind: 'flv' }, sum.flv);
      this.set({ kind: 'websocket' }, sum.websocket);
    },
  });
  new Gauge({
    name: 'causeway_edge_live_relays',
    help: 'Broadcasts that this worker relays from the live process to its viewers.',
    registers,
    collect() {
      this.set(relays.size);
    },
  });
  new Gauge({
    name: 'causeway_edge_live_synced',
    help: '1 while this worker is connected to the live process, else 0.',
    registers,
    collect() {
      this.set(streams.isSynced ? 1 : 0);
    },
  });
  new Gauge({
    name: 'causeway_edge_live_files_bytes',
    help: 'Memory of this worker for playlists, parts and segments of live streams; at most 64 MiB.',
    registers,
    collect() {
      this.set(files.bytesHeld);
    },
  });
}
