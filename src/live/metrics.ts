/** Metrics of the live process. */
import type { Registry } from 'prom-client';
import type { HlsFile } from '#fanout/hls/files.ts';
import { metricsOf } from '#lib/metrics.ts';
import type { LiveFile } from './live-file.ts';
import type { Owner } from './owner.ts';
import type { RecordingService } from './recording/open-recording.ts';

export function addLiveMetrics(
  registry: Registry,
  owner: Pick<Owner, 'list'>,
  file: Pick<LiveFile, 'countEvents'>,
): void {
  const { gauge, gauges } = metricsOf(registry);
  gauges(
    'causeway_live_broadcasts',
    'Broadcasts on air in this process, by source: publish or origin.',
    ['source'],
    () => {
      const counts = { publish: 0, origin: 0 };
      for (const { onAir } of owner.list()) if (onAir !== undefined) counts[onAir.source]++;
      return Object.entries(counts).map(([source, count]) => [{ source }, count]);
    },
  );
  gauge('causeway_live_events_waiting', 'Start and end events of broadcasts that control has not accepted yet.', () =>
    file.countEvents(),
  );
}

/** Counts the requests of edge workers. The workers count those of viewers. */
export function createHlsCounter(registry: Registry): (kind: HlsFile['kind']) => void {
  const requests = metricsOf(registry).counter(
    'causeway_live_hls_requests_total',
    'HLS files requested by edge workers, by kind: multivariant and media (playlists), init, segment, part.',
    ['file'],
  );
  return (file) => requests.inc({ file });
}

export function addRecordingMetrics(registry: Registry, recording: RecordingService): void {
  const { gauge, total, totals } = metricsOf(registry);
  gauge(
    'causeway_live_recordings',
    'Broadcasts that are being recorded in this process.',
    () => recording.recorder.recording,
  );
  gauge(
    'causeway_live_recording_spool_bytes',
    'Disk space of recordings that control has not accepted yet.',
    () => recording.spool.bytes,
  );
  gauge(
    'causeway_live_recording_pieces_waiting',
    'Pieces of recordings that control has not accepted yet.',
    () => recording.spool.waitingPieces,
  );
  totals(
    'causeway_live_recordings_stopped_total',
    'Recordings since the start that stopped because the spool or disk was full (full) or the disk too slow (slow).',
    ['end'],
    () => Object.entries(recording.recorder.stopped).map(([end, count]) => [{ end }, count]),
  );
  total(
    'causeway_live_recording_pieces_lost_total',
    'Pieces of recordings since the start that were lost: damaged, or refused by control for good.',
    () => recording.shipper.lost,
  );
}
