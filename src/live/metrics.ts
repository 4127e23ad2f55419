/** What the live process tells of its streams. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { HlsFile } from '#fanout/hls/files.ts';
import type { LiveFile } from './live-file.ts';
import type { Owner } from './owner.ts';
import type { RecordingService } from './recording/open-recording.ts';

export function addLiveMetrics(
  registry: Registry,
  owner: Pick<Owner, 'list'>,
  file: Pick<LiveFile, 'countEvents'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'causeway_live_broadcasts',
    help: 'Broadcasts on air in this process, by source: publish or origin.',
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
    help: 'Start and end events of broadcasts that control has not accepted yet.',
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
    help: 'HLS files requested by edge workers, by kind: multivariant and media (playlists), init, segment, part.',
    labelNames: ['file'],
    registers: [registry],
  });
  return (file) => requests.inc({ file });
}

export function addRecordingMetrics(registry: Registry, recording: RecordingService): void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge(
    'causeway_live_recordings',
    'Broadcasts that are being recorded at this process.',
    () => recording.recorder.recording,
  );
  gauge(
    'causeway_live_recording_spool_bytes',
    'Disk that recordings take which control has not taken yet.',
    () => recording.spool.bytes,
  );
  gauge(
    'causeway_live_recording_pieces_waiting',
    'Pieces of recordings that control has not taken yet.',
    () => recording.spool.waitingPieces,
  );
  const counter = (
    name: string,
    help: string,
    collect: (set: (value: number, end?: string) => void) => void,
    labelNames: string[],
  ) =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        collect((value, end) => (end === undefined ? this.inc(value) : this.inc({ end }, value)));
      },
    });
  counter(
    'causeway_live_recordings_stopped_total',
    'Recordings since the start that stopped because there was no room (full) or the disk was too slow (slow).',
    (set) => {
      for (const [end, count] of Object.entries(recording.recorder.stopped)) set(count, end);
    },
    ['end'],
  );
  counter(
    'causeway_live_recording_pieces_lost_total',
    'Pieces of recordings since the start that were damaged, or that control refused for good.',
    (set) => set(recording.shipper.lost),
    [],
  );
}
