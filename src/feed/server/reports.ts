/** Handles the reports of edges: status, outcomes of prefetches, live streams, logs, statistics and recordings. */
import type { OutgoingHttpHeaders } from 'node:http';
import { isDatabaseAway } from '#db/failures.ts';
import type { Db } from '#db/open.ts';
import { recordPrefetchResults } from '#db/tables/cache-tasks.ts';
import { recordEdgeStatuses } from '#db/tables/edges.ts';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import { isInHistory } from '#db/tables/revision-tags.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type LiveStatus, sumViewers } from '#model/live-stream.ts';
import type { Peer } from '../publish/peer.ts';
import { type LiveReportAnswer, MAX_LIVE_REPORT_BYTES, parseLiveReport } from '../wire/live-report.ts';
import { parsePrefetchReport, parseStatus, requireEdge } from '../wire/messages.ts';
import {
  LIVE_PATH,
  LOG_DONE_PATH,
  LOG_PLACES_PATH,
  LOGS_PATH,
  MAX_STATUS_BYTES,
  PREFETCH_PATH,
  RECORDINGS_PATH,
  STAT_SECONDS_HEADER,
  STATISTICS_PATH,
  STATUS_PATH,
  UNKNOWN_POSITION,
} from '../wire/protocol.ts';
import type { ReadBody } from './bodies.ts';
import type { EdgeCounts } from './edge-counts.ts';
import { createPlaceKeeper } from './place-keeper.ts';
import { type FeedCaller, type FeedHandler, type Routes, refuseRequest } from './request-handler.ts';
import { createStatusRounds } from './status-rounds.ts';

/** Shortest interval between two log lines about a problem that every report repeats. */
const SAY_AGAIN_MS = 60_000;

/**
 * Takes traffic reports of edges. Each method is idempotent, resolves when the data is stored durably, and throws
 * `MessageError` for invalid data, `ForeignEdgeError` if the data names another edge than `sender`, and `CrowdedError` if
 * too much is waiting. `sender`: the edge by its certificate; absent for this machine's own, which names itself.
 */
export interface TrafficTaker {
  readonly maxPartBytes: number;
  takePart(part: Buffer, sender: Peer | undefined): Promise<void>;
  readonly maxReportBytes: number;
  takeReport(report: string, sender: Peer | undefined): Promise<void>;
  /** Interval at which edges are to report, in seconds; `undefined`: that of their settings. */
  reportSeconds(): number | undefined;
  /** Present if edges can store parts of logs themselves. Each method returns the answer, JSON. */
  readonly uploads?: {
    readonly maxBytes: number;
    findPlaces(message: string, sender: Peer | undefined): Promise<string>;
    takeStored(message: string, sender: Peer | undefined): Promise<string>;
  };
  readonly maxRecordingBytes: number;
  takeRecording(message: Buffer, sender: Peer | undefined): Promise<void>;
}

/** Number of resources that an edge rejects, at most as many as a report holds. */
export interface RejectionCount {
  readonly rejected: number;
}

/** Number of streams that a live process has on air. */
export interface LiveCount {
  readonly streams: number;
  readonly viewers: number;
}

export interface ReportOptions {
  readonly db: Db;
  /** Absent if this control accepts no traffic reports. */
  readonly traffic?: TrafficTaker;
  readonly readBody: ReadBody;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rejections: EdgeCounts<RejectionCount>;
  readonly live: EdgeCounts<LiveCount>;
}

export function reportRoutes(options: ReportOptions): Routes {
  return {
    [STATUS_PATH]: { method: 'POST', handle: createReportHandler(options, createStatusTaker(options)) },
    [PREFETCH_PATH]: {
      method: 'POST',
      handle: createReportHandler(options, (text, caller) => takePrefetchReport(options, text, caller)),
    },
    [LIVE_PATH]: { method: 'POST', handle: createLiveHandler(options) },
    ...(options.traffic !== undefined && trafficRoutes(options.traffic, options.readBody)),
    ...(options.traffic?.uploads !== undefined && uploadRoutes(options.traffic.uploads, options.readBody)),
  };
}

function trafficRoutes(traffic: TrafficTaker, readBody: ReadBody): Routes {
  const take =
    (
      maxBytes: number,
      work: (body: Buffer, sender: Peer | undefined) => Promise<void>,
      fields?: () => OutgoingHttpHeaders,
    ): FeedHandler =>
    async (request, response, { peer }) => {
      const body = await readBody(request, response, { maxBytes, peer });
      if (body === undefined) return refuseRequest(response, 413, `expected at most ${maxBytes} bytes`);
      await work(body, peer);
      response.writeHead(204, fields?.()).end();
    };
  const { maxPartBytes, maxReportBytes, maxRecordingBytes } = traffic;
  return {
    [LOGS_PATH]: { method: 'POST', handle: take(maxPartBytes, (body, sender) => traffic.takePart(body, sender)) },
    [RECORDINGS_PATH]: {
      method: 'POST',
      handle: take(maxRecordingBytes, (body, sender) => traffic.takeRecording(body, sender)),
    },
    [STATISTICS_PATH]: {
      method: 'POST',
      handle: take(
        maxReportBytes,
        (body, sender) => traffic.takeReport(body.toString('utf8'), sender),
        () => secondsField(traffic.reportSeconds()),
      ),
    },
  };
}

/** Each message is answered with JSON. */
function uploadRoutes({ maxBytes, findPlaces, takeStored }: Uploads, readBody: ReadBody): Routes {
  const answer =
    (work: (message: string, sender: Peer | undefined) => Promise<string>): FeedHandler =>
    async (request, response, { peer }) => {
      const body = await readBody(request, response, { maxBytes, peer });
      if (body === undefined) return refuseRequest(response, 413, `expected at most ${maxBytes} bytes`);
      const text = await work(body.toString('utf8'), peer);
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(text);
    };
  return {
    [LOG_PLACES_PATH]: { method: 'POST', handle: answer(findPlaces) },
    [LOG_DONE_PATH]: { method: 'POST', handle: answer(takeStored) },
  };
}

type Uploads = NonNullable<TrafficTaker['uploads']>;

function secondsField(seconds: number | undefined): OutgoingHttpHeaders {
  return seconds === undefined ? {} : { [STAT_SECONDS_HEADER]: seconds };
}

/** Why a valid report does not count. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
}

/** Throws `MessageError` for an invalid report. */
type TakeReport = (text: string, caller: FeedCaller) => Promise<Refusal | undefined>;

function createReportHandler({ readBody }: Pick<ReportOptions, 'readBody'>, take: TakeReport): FeedHandler {
  return async (request, response, caller) => {
    const body = await readBody(request, response, { maxBytes: MAX_STATUS_BYTES, peer: caller.peer });
    if (body === undefined) return refuseRequest(response, 413, `expected at most ${MAX_STATUS_BYTES} bytes`);
    const refusal = await take(body.toString('utf8'), caller);
    if (refusal === undefined) response.writeHead(204).end();
    else refuseRequest(response, refusal.status, refusal.reason);
  };
}

function createStatusTaker({ db, clock, log, rejections }: ReportOptions): TakeReport {
  let saidAt = Number.NEGATIVE_INFINITY;
  const rounds = createStatusRounds({
    record: (statuses) => recordEdgeStatuses(db.query, statuses, clock()),
    isAway: isDatabaseAway,
  });
  const places = createPlaceKeeper(db, clock);
  return async (text, { peer }) => {
    const status = parseStatus(text);
    requireEdge(status.edge, peer?.edge);
    const recorded = await rounds.record(status, text.length);
    const now = clock();
    if (recorded === 'recorded') {
      await places.note(status.edge, status.vitals?.place, peer?.group);
      rejections.note(status.edge, { rejected: status.rejected.length }, now);
      return undefined;
    }
    if (recorded === 'crowded') return { status: 503, reason: 'too many reports at once' };
    if (recorded === 'unknownPlace') return { status: 409, reason: UNKNOWN_POSITION };
    if (Math.abs(now - saidAt) >= SAY_AGAIN_MS) {
      saidAt = now;
      log.error(
        { edge: status.edge, startedAt: status.startedAt },
        'two edges use the same id; rejecting the one that started earlier',
      );
    }
    const reason = `edge: another edge reports as ${status.edge} and started later; set a unique edge-id`;
    return { status: 409, reason };
  };
}

/** A report from another history is ignored: its tasks belong to another database, even if their ids are the same. */
async function takePrefetchReport({ db }: ReportOptions, text: string, { peer }: FeedCaller): Promise<undefined> {
  const { edge, at, results } = parsePrefetchReport(text);
  requireEdge(edge, peer?.edge);
  if (!(await isInHistory(db.query, at))) return;
  await recordPrefetchResults(
    db.query,
    { edge, group: peer?.group },
    results.map(({ taskId, n, failure }) => ({ taskId, n, failure })),
  );
}

function createLiveHandler({ db, readBody, clock, live }: ReportOptions): FeedHandler {
  return async (request, response, { peer }) => {
    const body = await readBody(request, response, { maxBytes: MAX_LIVE_REPORT_BYTES, peer });
    if (body === undefined) return refuseRequest(response, 413, `expected at most ${MAX_LIVE_REPORT_BYTES} bytes`);
    const report = parseLiveReport(body.toString('utf8'));
    requireEdge(report.edge, peer?.edge);
    const answer: LiveReportAnswer = await db.transaction((trx) =>
      recordLiveReport(trx, { ...report, group: peer?.group }, clock()),
    );
    const { edge, streams } = report;
    if (streams !== undefined) live.note(edge, { streams: streams.length, viewers: viewersOf(streams) }, clock());
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };
}

function viewersOf(streams: readonly LiveStatus[]): number {
  return streams.reduce((sum, { viewers }) => sum + sumViewers(viewers), 0);
}
