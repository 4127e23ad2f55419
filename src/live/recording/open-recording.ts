/**
 * Joins the parts of recording: the spool, the recorder that writes to it, and the shipper that sends it to control.
 */
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import { Recorder } from './recorder.ts';
import { type RecordingShipper, type RecordingShipperOptions, startRecordingShipper } from './shipper.ts';
import { RecordingSpool } from './spool.ts';

export interface RecordingOptions {
  /** Directory of the spool; created if missing. */
  readonly directory: string;
  /** Size of the spool. */
  readonly maxBytes: number;
  readonly post: RecordingShipperOptions['post'];
}

export interface RecordingService extends AsyncDisposable {
  readonly spool: RecordingSpool;
  readonly recorder: Recorder;
  readonly shipper: RecordingShipper;
}

/** Throws if the spool cannot be opened. Disposal waits until all stopped recordings are written. */
export function openRecording(
  { directory, maxBytes, post }: RecordingOptions,
  { edge, newRecordingId, timers, log }: Process,
): RecordingService {
  const spool = new RecordingSpool(directory, maxBytes, (folder) =>
    log.error({ folder }, 'deleted a recording left by a killed process: its beginning is missing'),
  );
  const recorder = new Recorder({ spool, newRecordingId, timers, log });
  const shipper = startRecordingShipper({ spool, edge, post, timers, random: Math.random, log });
  return {
    spool,
    recorder,
    shipper,
    async [Symbol.asyncDispose]() {
      await recorder.settled();
      await shipper[Symbol.asyncDispose]();
    },
  };
}

interface Process {
  readonly edge: string;
  newRecordingId(): string;
  readonly timers: Timers;
  readonly log: Logger;
}
