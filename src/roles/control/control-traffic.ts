/** Stores the traffic reports of edges in control, and deletes them when they expire. */
import type { Config } from '#config';
import type { Db } from '#db/open.ts';
import { type Controls, HOUSEKEEPING } from '#db/peers/peers.ts';
import type { Peer } from '#feed/publish/peer.ts';
import { CrowdedError } from '#feed/server/crowded-error.ts';
import type { TrafficTaker } from '#feed/server/reports.ts';
import { MessageError, requireEdge } from '#feed/wire/messages.ts';
import { MAX_RECORDING_BYTES, parseRecordingMessage } from '#feed/wire/recording-message.ts';
import { steadyClock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import { createTraffic, type Traffic } from '#logs/receive.ts';
import { forgetRecordings } from '#logs/recordings/forget.ts';
import { takeRecording } from '#logs/recordings/receive.ts';
import { MAX_PART_BYTES, MAX_REPORT_BYTES, parsePart, parseReport, type StatisticsReport } from '#logs/report.ts';
import { FULL_PACE, nextPace, type ReportPace } from '#logs/report-pace.ts';
import { forgetOldTraffic } from '#logs/retention.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { s3BlobStore } from '#logs/store/s3.ts';
import { MAX_UPLOAD_MESSAGE_BYTES, parseStored, parseWanted, type WantedPart } from '#logs/upload-messages.ts';
import { findPlaces, type PartUploads, takeStored } from '#logs/uploads.ts';

interface ControlTraffic extends AsyncDisposable {
  readonly taker: TrafficTaker;
}

const FORGET_EVERY_MS = 3_600_000;
/** Recordings that a customer deletes should be gone soon. */
const FORGET_RECORDINGS_EVERY_MS = 600_000;

export function openBlobStore({ logStore }: Pick<Config, 'logStore'>): BlobStore {
  return logStore.kind === 'local' ? localBlobStore(logStore.directory) : s3BlobStore(logStore, systemClock);
}

export function openControlTraffic(
  config: Pick<Config, 'logStore' | 'logDays' | 'timeZone' | 'statSeconds'>,
  db: Db,
  peers: Pick<Controls, 'underLease'>,
  log: Logger,
): ControlTraffic {
  const { logDays, timeZone, statSeconds } = config;
  const blobs = openBlobStore(config);
  const { clock } = db;
  const traffic = createTraffic({ db, blobs, timeZone, clock });
  const pace = { now: FULL_PACE };
  const forgetting = startRounds({
    everyMs: FORGET_EVERY_MS,
    work: (signal) =>
      peers.underLease(HOUSEKEEPING, db, (leased) =>
        forgetOldTraffic({ db: leased, blobs, timeZone, logDays }, clock(), signal),
      ),
    onFailure: (error) => {
      if (!forgetting.signal.aborted) log.error({ err: error }, 'cannot delete expired log files; retrying later');
    },
  });
  const forgettingRecordings = startRounds({
    everyMs: FORGET_RECORDINGS_EVERY_MS,
    work: (signal) =>
      peers.underLease(HOUSEKEEPING, db, (leased) => forgetRecordings({ db: leased, blobs }, clock(), signal)),
    onFailure: (error) => {
      if (!forgettingRecordings.signal.aborted)
        log.error({ err: error }, 'cannot delete expired recordings; retrying later');
    },
  });
  return {
    taker: {
      maxPartBytes: MAX_PART_BYTES,
      maxReportBytes: MAX_REPORT_BYTES,
      async takePart(body, sender) {
        const part = required('part of a log', parsePart(body));
        requireEdge(part.key.edge, sender?.edge);
        await traffic.takePart(part, sender?.group);
      },
      async takeReport(body, sender) {
        const report = required('report of traffic', parseReport(body));
        requireEdge(report.edge, sender?.edge);
        await takePaced(traffic, pace, report, sender?.group);
      },
      reportSeconds: () => (pace.now.factor === 1 ? undefined : statSeconds * pace.now.factor),
      ...(blobs.uploads !== undefined && { uploads: uploadsOf({ db, uploads: blobs.uploads }) }),
      maxRecordingBytes: MAX_RECORDING_BYTES,
      takeRecording: (body, sender) => takeRecordingMessage({ db, blobs }, body, sender),
    },
    async [Symbol.asyncDispose]() {
      await forgetting[Symbol.asyncDispose]();
      await forgettingRecordings[Symbol.asyncDispose]();
    },
  };
}

function uploadsOf(options: PartUploads): NonNullable<TrafficTaker['uploads']> {
  const check = <Part extends Pick<WantedPart, 'key'>>(
    parts: readonly Part[] | undefined,
    sender: Peer | undefined,
  ) => {
    const all = required('list of parts of logs', parts);
    for (const { key } of all) requireEdge(key.edge, sender?.edge);
    return all;
  };
  return {
    maxBytes: MAX_UPLOAD_MESSAGE_BYTES,
    findPlaces: async (message, sender) => {
      const places = await findPlaces(options, check(parseWanted(message), sender), sender?.group);
      return JSON.stringify({ places });
    },
    takeStored: async (message, sender) => {
      const stored = await takeStored(options, check(parseStored(message), sender), sender?.group);
      return JSON.stringify({ stored });
    },
  };
}

/** Takes a report, and notes how long it waited. */
async function takePaced(
  traffic: Traffic,
  pace: { now: ReportPace },
  report: StatisticsReport,
  group: string | undefined,
): Promise<void> {
  const beganAt = steadyClock();
  const outcome = await traffic.takeReport(report, group);
  const waitedMs = outcome === 'crowded' ? Number.POSITIVE_INFINITY : steadyClock() - beganAt;
  pace.now = nextPace(pace.now, waitedMs, steadyClock());
  if (outcome === 'crowded') throw new CrowdedError('too many reports of traffic are waiting; send it again later');
}

async function takeRecordingMessage(
  store: { readonly db: Db; readonly blobs: BlobStore },
  body: Buffer,
  sender: Peer | undefined,
): Promise<void> {
  const message = required('piece of a recording', parseRecordingMessage(body));
  requireEdge(message.edge, sender?.edge);
  const { recording: id, n, durationMs, initBytes, isDiscontinuity, endsAt, end = '', bytes, ...of } = message;
  const piece = { n, initBytes, mediaBytes: bytes.length - initBytes, durationMs, isDiscontinuity };
  const sent = {
    recording: { id, ...of },
    piece: bytes.length === 0 ? undefined : piece,
    endsAt,
    endReason: end,
    group: sender?.group,
  };
  const taken = await takeRecording(store, sent, bytes);
  if (taken === 'foreign')
    throw new MessageError(`domainId: expected a domain of this database that the edge serves, not ${of.domainId}`);
}

function required<T>(what: string, value: T | undefined): T {
  if (value === undefined) throw new MessageError(`expected a ${what}`);
  return value;
}
