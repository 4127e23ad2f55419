/**
 * Control's side of the feed: streams, snapshots and status reports over a unix socket. It is never on the management
 * listener, and requests that came through a proxy are refused.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { recordPrefetchResults } from '#db/tables/cache-tasks.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import { isInHistory } from '#db/tables/revision-tags.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type LiveStatus, sumViewers } from '#model/live-stream.ts';
import { type ChangeBroadcast, createBroadcast } from './broadcast.ts';
import { createEdgeCounts, type EdgeCounts, type OfEdge } from './edge-counts.ts';
import { startHousekeeping } from './housekeeping.ts';
import { type LiveReportAnswer, MAX_LIVE_REPORT_BYTES, parseLiveReport } from './live-report.ts';
import { MessageError, parsePrefetchReport, parseStatus } from './messages.ts';
import { createUnsealBody, type UnsealBody } from './open-secrets.ts';
import { parsePositionQuery } from './position-query.ts';
import {
  HEARTBEAT_MS,
  LIVE_PATH,
  LOGS_PATH,
  MAX_STATUS_BYTES,
  PREFETCH_PATH,
  RECORDINGS_PATH,
  SNAPSHOT_PATH,
  STATISTICS_PATH,
  STATUS_PATH,
  STREAM_PATH,
  UNKNOWN_POSITION,
} from './protocol.ts';
import { withSnapshot } from './snapshot.ts';
import { listenOnSocket } from './unix-socket.ts';

/** Interval of rounds without a wake-up, for those that were missed. */
const POLL_MS = 1000;
/**
 * Limit of concurrent snapshots, each of which holds a database snapshot; further clients retry after their back-off.
 */
const MAX_SNAPSHOTS = 4;
/** Time without progress after which an edge that reads a snapshot is cut. */
const SNAPSHOT_STALL_MS = 30_000;
const MAX_CONNECTIONS = 10_000;
/** Shortest interval between two log lines about a problem that every report repeats. */
const SAY_AGAIN_MS = 60_000;

export interface FeedServerOptions {
  readonly db: Db;
  readonly socketPath: string;
  /** Absent if this control accepts no traffic reports. */
  readonly traffic?: TrafficTaker;
  /** Opens the private keys of certificates. Absent if this feed has no certificates. */
  readonly ring?: Keyring;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Takes traffic reports of edges. Each method is idempotent, resolves when the data is stored durably, and throws
 * `MessageError` for invalid data.
 */
export interface TrafficTaker {
  readonly maxPartBytes: number;
  takePart(part: Buffer): Promise<void>;
  readonly maxReportBytes: number;
  takeReport(report: string): Promise<void>;
  readonly maxRecordingBytes: number;
  takeRecording(message: Buffer): Promise<void>;
}

/** Number of resources that an edge rejects, at most as many as a report holds. */
interface RejectionCount {
  readonly rejected: number;
}

/** Number of streams that a live process has on air. */
interface LiveCount {
  readonly streams: number;
  readonly viewers: number;
}

export interface FeedServer extends AsyncDisposable {
  /** Newest revision seen in the database. */
  readonly headRevision: number;
  /** Number of open streams. */
  readonly connectedEdges: number;
  /** Counts of edges that report. */
  rejections(): readonly OfEdge<RejectionCount>[];
  /** Counts of live processes that report. */
  liveCounts(): readonly OfEdge<LiveCount>[];
}

/** Throws if the socket is in use. */
export async function startFeedServer(options: FeedServerOptions): Promise<FeedServer> {
  const { db, log } = options;
  const openBody = createUnsealBody(options.ring, log);
  const broadcast = createBroadcast(db, openBody);
  const rejections = createEdgeCounts<RejectionCount>();
  const live = createEdgeCounts<LiveCount>();
  const handle = createHandler(options, openBody, broadcast, { rejections, live });
  const server = createServer((request, response) => void handle(request, response)); // `handle` never rejects
  server.maxConnections = MAX_CONNECTIONS;
  await listenOnSocket(server, options.socketPath);
  const publishing = watchPublishes(db, broadcast, log);
  const beating = setInterval(() => broadcast.heartbeat(), HEARTBEAT_MS);
  const housekeeping = startHousekeeping(options);
  return {
    get headRevision() {
      return broadcast.revision;
    },
    get connectedEdges() {
      return broadcast.clientCount;
    },
    rejections: () => rejections.list(options.clock()),
    liveCounts: () => live.list(options.clock()),
    async [Symbol.asyncDispose]() {
      clearInterval(beating);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await publishing[Symbol.asyncDispose]();
      await housekeeping[Symbol.asyncDispose]();
      broadcast.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Runs a round at each wake-up and each poll. An unreachable database is logged once, not every second. */
function watchPublishes(db: Db, broadcast: ChangeBroadcast, log: Logger): AsyncDisposable {
  let isFailing = false;
  let running: Promise<void> = Promise.resolve();
  const round = async () => {
    try {
      await broadcast.round();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error({ err: error }, 'the feed cannot read the database; retrying');
      isFailing = true;
    }
  };
  const wake = () => {
    running = round();
  };
  const unsubscribe = db.onPublish(wake);
  const polling = setInterval(wake, POLL_MS);
  return {
    async [Symbol.asyncDispose]() {
      unsubscribe();
      clearInterval(polling);
      await running;
    },
  };
}

type Routes = Readonly<Record<string, { readonly method: string; readonly handle: Handler }>>;

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function createHandler(
  options: FeedServerOptions,
  openBody: UnsealBody,
  broadcast: ChangeBroadcast,
  { rejections, live }: { readonly rejections: EdgeCounts<RejectionCount>; readonly live: EdgeCounts<LiveCount> },
): Handler {
  const routes: Routes = {
    [STREAM_PATH]: { method: 'GET', handle: (request, response) => openStream(broadcast, request, response) },
    [SNAPSHOT_PATH]: { method: 'GET', handle: createSnapshotHandler(options.db, openBody) },
    [STATUS_PATH]: { method: 'POST', handle: createReportHandler(createStatusTaker(options, rejections)) },
    [PREFETCH_PATH]: { method: 'POST', handle: createReportHandler((text) => takePrefetchReport(options, text)) },
    [LIVE_PATH]: { method: 'POST', handle: createLiveHandler(options, live) },
    ...(options.traffic !== undefined && trafficRoutes(options.traffic)),
  };
  return async (request, response) => {
    try {
      if (hasPassedProxy(request)) return refuse(response, 400, 'the feed cannot be reached through a proxy');
      const path = request.url?.split('?')[0] ?? '';
      const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
      if (route === undefined) return refuse(response, 404, 'no such path');
      if (request.method !== route.method) {
        response.setHeader('allow', route.method);
        return refuse(response, 405, `expected ${route.method}`);
      }
      await route.handle(request, response);
    } catch (error) {
      if (error instanceof MessageError) return refuse(response, 400, error.message);
      if (!response.destroyed) options.log.error({ err: error, path: request.url }, 'feed request failed');
      if (response.headersSent) response.destroy();
      else refuse(response, 503, 'try again later');
    }
  };
}

function trafficRoutes(traffic: TrafficTaker): Routes {
  const take =
    (maxBytes: number, work: (body: Buffer) => Promise<void>): Handler =>
    async (request, response) => {
      const body = await readBody(request, maxBytes);
      if (body === undefined) return refuse(response, 413, `expected at most ${maxBytes} bytes`);
      await work(body);
      response.writeHead(204).end();
    };
  const { maxPartBytes, maxReportBytes, maxRecordingBytes } = traffic;
  return {
    [LOGS_PATH]: { method: 'POST', handle: take(maxPartBytes, (body) => traffic.takePart(body)) },
    [RECORDINGS_PATH]: {
      method: 'POST',
      handle: take(maxRecordingBytes, (body) => traffic.takeRecording(body)),
    },
    [STATISTICS_PATH]: {
      method: 'POST',
      handle: take(maxReportBytes, (body) => traffic.takeReport(body.toString('utf8'))),
    },
  };
}

function hasPassedProxy({ headers }: IncomingMessage): boolean {
  return Object.keys(headers).some((name) => name === 'forwarded' || name.startsWith('x-forwarded-'));
}

/** Refuses a request and ends its connection, because the rest of its body is not read. */
function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${why}\n`);
}

async function openStream(
  broadcast: ChangeBroadcast,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const at = parsePositionQuery(queryOf(request));
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  await broadcast.add(response, at);
}

function queryOf(request: IncomingMessage): string {
  return request.url?.split('?')[1] ?? '';
}

function createSnapshotHandler(db: Db, openBody: UnsealBody): Handler {
  let openSnapshots = 0;
  return async (request, response) => {
    const query = queryOf(request);
    const from = query === '' ? undefined : parsePositionQuery(query);
    if (openSnapshots >= MAX_SNAPSHOTS) return refuse(response, 503, 'too many snapshots at once');
    openSnapshots += 1;
    try {
      await withSnapshot(db, from, openBody, (pieces) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson', 'content-encoding': 'zstd' });
        response.setTimeout(SNAPSHOT_STALL_MS, () => response.destroy());
        return pipeline(pieces, createZstdCompress(), response);
      });
    } finally {
      openSnapshots -= 1;
    }
  };
}

/** `take` throws `MessageError` for an invalid report, and returns the reason if a valid one does not count. */
function createReportHandler(take: (text: string) => Promise<string | undefined>): Handler {
  return async (request, response) => {
    const body = await readBody(request, MAX_STATUS_BYTES);
    if (body === undefined) return refuse(response, 413, `expected at most ${MAX_STATUS_BYTES} bytes`);
    const refusal = await take(body.toString('utf8'));
    if (refusal === undefined) response.writeHead(204).end();
    else refuse(response, 409, refusal);
  };
}

function createStatusTaker(
  { db, clock, log }: FeedServerOptions,
  rejections: EdgeCounts<RejectionCount>,
): (text: string) => Promise<string | undefined> {
  let saidAt = Number.NEGATIVE_INFINITY;
  return async (text) => {
    const status = parseStatus(text);
    const now = clock();
    const recorded = await recordEdgeStatus(db.query, status, now);
    if (recorded === 'recorded') {
      rejections.note(status.edge, { rejected: status.rejected.length }, now);
      return undefined;
    }
    if (recorded === 'unknownPlace') return UNKNOWN_POSITION;
    if (Math.abs(now - saidAt) >= SAY_AGAIN_MS) {
      saidAt = now;
      log.error(
        { edge: status.edge, startedAt: status.startedAt },
        'two edges use the same id; rejecting the one that started earlier',
      );
    }
    return `edge: another edge reports as ${status.edge} and started later; set a unique edge-id`;
  };
}

/**
 * A report from another history is ignored: its tasks are not ours, whatever their numbers, and nobody waits for them.
 */
async function takePrefetchReport({ db }: FeedServerOptions, text: string): Promise<undefined> {
  const { edge, at, results } = parsePrefetchReport(text);
  if (!(await isInHistory(db.query, at))) return;
  await recordPrefetchResults(
    db.query,
    edge,
    results.map(({ taskId, n, failure }) => ({ taskId, n, failure })),
  );
}

function createLiveHandler({ db, clock }: FeedServerOptions, counts: EdgeCounts<LiveCount>): Handler {
  return async (request, response) => {
    const body = await readBody(request, MAX_LIVE_REPORT_BYTES);
    if (body === undefined) return refuse(response, 413, `expected at most ${MAX_LIVE_REPORT_BYTES} bytes`);
    const report = parseLiveReport(body.toString('utf8'));
    const answer: LiveReportAnswer = await db.transaction((trx) => recordLiveReport(trx, report, clock()));
    const { edge, streams } = report;
    if (streams !== undefined) counts.note(edge, { streams: streams.length, viewers: viewersOf(streams) }, clock());
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };
}

function viewersOf(streams: readonly LiveStatus[]): number {
  return streams.reduce((sum, { viewers }) => sum + sumViewers(viewers), 0);
}

/** Returns `undefined` if the body is longer. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed at an early stop, because the refusal is sent on the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
