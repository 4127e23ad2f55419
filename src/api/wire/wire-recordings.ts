/** Recordings of live streams, their words on the wire. Used by `wire-live.ts`, and by `stale-revision.ts` for the settings that are there. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { Recording } from '#db/tables/live/recordings.ts';
import type { Domain } from '#model/domain.ts';
import { readName } from './wire-traffic.ts';
import { readPage, writeFlag, writeRevision } from './wire-values.ts';

/** Where it can be played and downloaded for a while. */
export interface RecordingUrls {
  readonly playlist: string;
  readonly whole: string;
}

interface RecordingPage {
  readonly total: number;
  readonly list: readonly RecordingView[];
  readonly expiresAt: number;
}

type RecordingView = Recording & RecordingUrls & { readonly isOnAir: boolean };

/** End reasons of recordings that miss nothing at their end. */
const COMPLETE: readonly string[] = ['ended', 'off', 'changed', 'long'];

export const READ_RECORDINGS = {
  'live.getRecording': ({ domain }: RequestOf<'live.getRecording'>) => ({ name: readName(domain) }),
  'live.setRecording': ({ domain, record, keep_days }: RequestOf<'live.setRecording'>) => ({
    name: readName(domain),
    isOn: record,
    days: keep_days,
  }),
  'live.listRecordings': (request: RequestOf<'live.listRecordings'>) => ({
    name: readName(request.domain),
    app: request.app_name,
    stream: request.stream_name,
    from: request.starttime,
    to: request.endtime,
    ...readPage(request),
  }),
  'live.deleteRecording': ({ domain, recording_id }: RequestOf<'live.deleteRecording'>) => ({
    name: readName(domain),
    recording: recording_id,
  }),
};

export const WRITE_RECORDINGS = {
  'live.getRecording': (domain: Domain): DataOf<'live.getRecording'> => ({
    ...writeRevision(domain),
    record: writeFlag(domain.settings.recording.isOn),
    keep_days: domain.settings.recording.days,
  }),
  'live.listRecordings': ({ total, list, expiresAt }: RecordingPage): DataOf<'live.listRecordings'> => ({
    total,
    list: list.map(writeRecording),
    expire_time: Math.floor(expiresAt / 1000),
  }),
};

function writeRecording(view: RecordingView): DataOf<'live.listRecordings'>['list'][number] {
  return {
    recording_id: view.id,
    app_name: view.app,
    stream_name: view.stream,
    broadcast: view.broadcast,
    starttime: Math.floor(view.beganAt / 1000),
    endtime: Math.floor(view.lastAt / 1000),
    duration_ms: view.durationMs,
    size: String(view.bytes),
    status: statusOf(view),
    end_reason: view.endReason,
    playlist_url: view.playlist,
    download_url: view.whole,
  };
}

function statusOf({ endReason, isOnAir }: RecordingView) {
  if (COMPLETE.includes(endReason)) return 'COMPLETE';
  return endReason === '' && isOnAir ? 'RECORDING' : 'INCOMPLETE';
}
