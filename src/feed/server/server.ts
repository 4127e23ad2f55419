/**
 * Control's side of the feed: streams, snapshots and reports. It listens on the unix socket of this machine; the
 * listener for other machines passes its requests to `handle`. It is never on the management listener.
 */
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import type { Db } from '#db/open.ts';
import { ALONE, type Controls } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { noteEdgesSeen } from '#db/tables/edges.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import { Asks } from '../publish/asks.ts';
import { type ChangeBroadcast, createBroadcast } from '../publish/broadcast.ts';
import { createLiveness, type Liveness } from '../publish/liveness.ts';
import { createUnsealBody, type UnsealBody } from '../publish/open-secrets.ts';
import { withSnapshot } from '../publish/snapshot.ts';
import { openSnapshotFiles } from '../publish/snapshot-files.ts';
import { createViewSealer, type ViewSealer } from '../publish/view-sealer.ts';
import {
  ANSWERS_PATH,
  MAX_ANSWER_BYTES,
  MAX_UPLOAD_MS,
  parseAnswer,
  parseUploadQuery,
  UPLOADS_PATH,
} from '../wire/ask-messages.ts';
import { requireEdge } from '../wire/messages.ts';
import { parsePositionQuery } from '../wire/position-query.ts';
import { HEARTBEAT_MS, MAX_SPREAD_MS, SNAPSHOT_PATH, STATUS_PATH, STREAM_PATH } from '../wire/protocol.ts';
import { createBodyReader, type ReadBody } from './bodies.ts';
import { createEdgeCounts, type EdgeCounts, type OfEdge } from './edge-counts.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createPacer } from './pacer.ts';
import { readRemoteClient, viewKeyRoutes } from './remote-routes.ts';
import { type LiveCount, type RejectionCount, reportRoutes, type TrafficTaker } from './reports.ts';
import {
  createFeedHandler,
  type FeedHandler,
  queryOf,
  type RequestHandler,
  refuseRequest,
  trackRequests,
} from './request-handler.ts';
import { createSnapshotTransfers, type SnapshotTransfers } from './snapshot-transfers.ts';
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
/** Interval of writing which edges are connected. */
const SEEN_MS = 5000;
/** Requests of the process that follows the feed, without those of others of its edge. */
const OF_FEED: ReadonlySet<string> = new Set([STREAM_PATH, SNAPSHOT_PATH, STATUS_PATH]);
/** Limit of streams to other machines. */
const MAX_REMOTE_STREAMS = 3000;
const STOPPING = 'stopping: this control ends; ask another one';
const CROWDED = 'crowded: this control has 3000 edges; ask another one';

export interface FeedServerOptions {
  readonly db: Db;
  readonly socketPath: string;
  /** Absent if this control accepts no traffic reports. */
  readonly traffic?: TrafficTaker;
  /** The controls that share the database; absent: this one is alone. */
  readonly peers?: Pick<Controls, 'underLease' | 'seen'>;
  /** Opens the private keys of certificates. Absent if this feed has no certificates. */
  readonly ring?: Keyring;
  /** Absent if this control serves no edges on other machines. */
  readonly snapshots?: SnapshotPlace;
  /** Retention of the audit trail; absent: 400 days. */
  readonly auditDays?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Where and how snapshots for other machines are kept and sent. */
interface SnapshotPlace {
  /** Directory of this process alone; files in it are deleted at the start. */
  readonly directory: string;
  /** Limit of all transfers together. */
  readonly bytesPerSecond: number;
}

export interface FeedServer extends AsyncDisposable {
  /** Answers a request of an edge; never rejects. `peer`: absent for the unix socket. */
  readonly handle: RequestHandler;
  /** Questions to the edges. */
  readonly asks: Asks;
  /**
   * Ends all streams before control stops. Edges on other machines turn to another control one after another, and are
   * followed until then for at most `limitMs`; if this control is alone, their streams end at once.
   */
  endStreams(limitMs: number): Promise<void>;
  /** Newest revision seen in the database. */
  readonly headRevision: number;
  /** Number of open streams. */
  readonly connectedEdges: number;
  /** Snapshots that were sent to other machines since the start; absent if this control serves none. */
  readonly snapshots: Pick<SnapshotTransfers, 'begun' | 'running' | 'sentBytes'> | undefined;
  /** Counts of edges that report. */
  rejections(): readonly OfEdge<RejectionCount>[];
  /** Counts of live processes that report. */
  liveCounts(): readonly OfEdge<LiveCount>[];
}

/** Throws if the socket is in use. */
export async function startFeedServer(options: FeedServerOptions): Promise<FeedServer> {
  const { db, log } = options;
  const { clock, snapshots, peers = ALONE } = options;
  const openBody = createUnsealBody(options.ring, log);
  const sealer = createViewSealer({ db, ring: options.ring, openBody, clock });
  const transfers = snapshots && (await openTransfers(options, snapshots, sealer));
  const asks: Asks = new Asks({
    db,
    streams: { sendTo: (event, asked) => broadcast.sendTo(event, asked) },
    monotonic: () => performance.now(),
    log,
  });
  const broadcast = createBroadcast({
    ...{ db, openBody, sealer, clock },
    greetings: (isMeant) => asks.eventsFor(isMeant),
  });
  const rejections = createEdgeCounts<RejectionCount>();
  const live = createEdgeCounts<LiveCount>();
  const requests = takeRequests({ ...options, broadcast, asks, openBody, sealer, transfers, rejections, live });
  const { handle } = requests;
  const liveness = createLiveness();
  const server = createServer(
    { requestTimeout: MAX_UPLOAD_MS },
    (request, response) => void handle(request, response, undefined), // it never rejects
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listenOnSocket(server, options.socketPath);
  const publishing = watchPublishes(db, broadcast, log);
  const beating = setInterval(() => broadcast.heartbeat(), HEARTBEAT_MS);
  const watching = watchLiveness(options, broadcast, liveness);
  const housekeeping = startHousekeeping({ ...options, peers });
  return {
    handle: (request, response, peer) => {
      if (peer !== undefined && OF_FEED.has(request.url?.split('?')[0] ?? '')) liveness.hear(peer.edge);
      return handle(request, response, peer);
    },
    asks,
    endStreams: (limitMs) => broadcast.close(peers.seen > 1 ? Math.min(limitMs, MAX_SPREAD_MS) : 0),
    snapshots: transfers,
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
      await watching[Symbol.asyncDispose]();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await publishing[Symbol.asyncDispose]();
      await housekeeping[Symbol.asyncDispose]();
      asks[Symbol.dispose]();
      await broadcast.close(0);
      server.closeAllConnections();
      await closed;
      await requests.settled(); // they use the database, which is closed next
    },
  };
}

/** What the requests of edges need. */
interface RequestParts extends FeedServerOptions {
  readonly broadcast: ChangeBroadcast;
  readonly asks: Asks;
  readonly openBody: UnsealBody;
  readonly sealer: ViewSealer;
  readonly transfers: SnapshotTransfers | undefined;
  readonly rejections: EdgeCounts<RejectionCount>;
  readonly live: EdgeCounts<LiveCount>;
}

function takeRequests(parts: RequestParts): ReturnType<typeof trackRequests> {
  const { db, broadcast, asks, openBody, sealer, transfers, log } = parts;
  const readBody = createBodyReader();
  return trackRequests(
    createFeedHandler(
      {
        [STREAM_PATH]: { method: 'GET', handle: createStreamHandler(broadcast) },
        [SNAPSHOT_PATH]: { method: 'GET', handle: createSnapshotHandler(db, openBody, transfers) },
        ...viewKeyRoutes(sealer, readBody),
        [ANSWERS_PATH]: { method: 'POST', handle: createAnswerHandler(asks, readBody) },
        [UPLOADS_PATH]: { method: 'POST', handle: createUploadHandler(asks) },
        ...reportRoutes({ ...parts, readBody }),
      },
      log,
    ),
  );
}

function createAnswerHandler(asks: Asks, readBody: ReadBody): FeedHandler {
  return async (request, response, { peer }) => {
    const body = await readBody(request, response, { maxBytes: MAX_ANSWER_BYTES, peer });
    if (body === undefined) return refuseRequest(response, 413, `expected at most ${MAX_ANSWER_BYTES} bytes`);
    const { edge, id, content } = parseAnswer(body.toString('utf8'));
    requireEdge(edge, peer?.edge);
    asks.takeAnswer(id, { edge, content }, peer);
    response.writeHead(204).end();
  };
}

/** The answer begins when the upload is taken, and ends with it. An edge goes on to the next control after 404. */
function createUploadHandler(asks: Asks): FeedHandler {
  return async (request, response, { peer }) => {
    const { edge, id } = parseUploadQuery(queryOf(request));
    requireEdge(edge, peer?.edge);
    const outcome = asks.takeUpload(id, { edge, body: request }, peer);
    if (outcome === 'unknown') return refuseRequest(response, 404, 'id: no question of this control');
    if (outcome === 'unwanted') return refuseRequest(response, 409, 'id: another edge has answered');
    request.once('close', () => response.end());
    response.writeHead(200).flushHeaders();
  };
}

/** Writes which edges on other machines are alive. */
function watchLiveness(
  { db, clock, log }: FeedServerOptions,
  broadcast: ChangeBroadcast,
  liveness: Liveness,
): AsyncDisposable {
  return startRounds({
    everyMs: SEEN_MS,
    work: async () => {
      const edges = liveness.look(broadcast.remoteStreams(), clock());
      if (edges.length > 0) await noteEdgesSeen(db.query, edges, clock());
    },
    onFailure: (error) => log.debug({ err: error }, 'cannot write which edges are connected; retrying'),
  });
}

/** Runs a round at each wake-up and each poll. An unreachable database is logged once, not every second. */
function watchPublishes(db: Db, broadcast: ChangeBroadcast, log: Logger): AsyncDisposable {
  const rounds = startRounds({
    everyMs: POLL_MS,
    isDelayed: true,
    work: () => broadcast.round(),
    onFailure: (error, isRepeated) => {
      if (!isRepeated) log.error({ err: error }, 'the feed cannot read the database; retrying');
    },
  });
  const unsubscribe = db.onPublish(rounds.wake);
  return {
    async [Symbol.asyncDispose]() {
      unsubscribe();
      await rounds[Symbol.asyncDispose]();
    },
  };
}

function createStreamHandler(broadcast: ChangeBroadcast): FeedHandler {
  return async (request, response, { peer }) => {
    const at = parsePositionQuery(queryOf(request));
    const remote = peer && readRemoteClient(request, peer);
    if (remote !== undefined && broadcast.isClosing) return refuseRequest(response, 503, STOPPING);
    if (remote !== undefined && broadcast.remoteCount >= MAX_REMOTE_STREAMS)
      return refuseRequest(response, 503, CROWDED);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    await broadcast.add(response, at, remote);
  };
}

/** Files serve edges on other machines. For this machine's own edge, the database is read directly. */
async function openTransfers(
  { db, clock }: FeedServerOptions,
  { directory, bytesPerSecond }: SnapshotPlace,
  sealer: ViewSealer,
): Promise<SnapshotTransfers> {
  const files = await openSnapshotFiles({ db, directory, sealer, clock });
  const pacer = createPacer(bytesPerSecond, () => performance.now());
  return createSnapshotTransfers({ db, files, pacer, random: Math.random });
}

function createSnapshotHandler(db: Db, openBody: UnsealBody, transfers: SnapshotTransfers | undefined): FeedHandler {
  let openSnapshots = 0;
  return async (request, response, { peer }) => {
    if (peer !== undefined) {
      if (transfers === undefined) return refuseRequest(response, 503, 'this control sends no snapshots');
      return await transfers.answer(request, response, peer);
    }
    const query = queryOf(request);
    const from = query === '' ? undefined : parsePositionQuery(query);
    if (openSnapshots >= MAX_SNAPSHOTS) return refuseRequest(response, 503, 'too many snapshots at once');
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
