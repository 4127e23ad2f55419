/**
 * Serves streams to the edge workers: HTTP/1.1 on a unix socket that only the service's user may open. Workers get the
 * list of streams with every change, streams as FLV and HLS files, and report their viewers. Requests for streams of the
 * predecessor are passed on to it; `successor-requests.ts` answers what a successor asks. docs/decisions/0493, 0608
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { FLV_ENCODING } from '#fanout/flv-encoding.ts';
import type { HlsFile } from '#fanout/hls/files.ts';
import type { Logger } from '#lib/logger.ts';
import { readBody } from '#lib/read-body.ts';
import type { Timers } from '#lib/timers.ts';
import { unreachable } from '#lib/unreachable.ts';
import { isAppName, isStreamName, type StreamName, streamKey } from '#sites/live.ts';
import { answerHls } from './answer-hls.ts';
import type { Broadcast } from './broadcast.ts';
import type { LiveStream } from './live-stream.ts';
import type { Predecessor } from './predecessor.ts';
import type { Pulls } from './pull/pulls.ts';
import { refuse } from './refuse.ts';
import { answerSuccessor, type SuccessorQuestions } from './successor-requests.ts';
import type { Viewers } from './viewers.ts';

export interface RelayServerOptions extends SuccessorQuestions {
  readonly socketPath: string;
  readonly viewers: Viewers;
  /** The live process that this one takes over from; `undefined` if there is none, or none any more. */
  predecessor(): Predecessor | undefined;
  readonly pulls: Pick<Pulls, 'open'>;
  /** Notified of each request for an HLS file. */
  onHlsFile(kind: HlsFile['kind']): void;
  readonly timers: Timers;
  readonly log: Logger;
}

export interface RelayServer extends AsyncDisposable {
  /** Counts the FLV connections of workers to a stream. */
  countRelays(name: StreamName): number;
  /** Sends workers to the successor, which takes over. Streams are served on. */
  drain(): void;
}

interface Relaying extends RelayServerOptions {
  readonly relays: Map<string, number>;
  readonly lists: Set<FollowedList>;
  readonly phase: { isDraining: boolean };
}

interface FollowedList {
  readonly response: ServerResponse;
  /** Whether the successor follows it. */
  readonly isOfSuccessor: boolean;
}

/** Interval of keep-alive lines in the list. */
const ALIVE_MS = 5_000;
/** Unread bytes at which a worker is cut, so that it does not go on serving by an outdated list. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

export async function openRelayServer(options: RelayServerOptions): Promise<RelayServer> {
  const { socketPath, log } = options;
  const relaying: Relaying = { ...options, relays: new Map(), lists: new Set(), phase: { isDraining: false } };
  const { relays, lists, phase } = relaying;
  const unanswered = new Set<ServerResponse>();
  const server = createServer({ requestTimeout: 30_000, keepAliveTimeout: 60_000 }, (request, response) => {
    response.on('error', () => response.destroy());
    // The next request of a worker is for the successor.
    if (phase.isDraining) response.shouldKeepAlive = false;
    unanswered.add(response);
    response.on('close', () => unanswered.delete(response));
    answer(relaying, request, response).catch((error: unknown) => {
      log.error({ err: error, url: request.url }, 'cannot answer a worker');
      response.destroy();
    });
  });
  rmSync(socketPath, { force: true }); // of a process that was killed
  server.listen({ path: socketPath });
  await once(server, 'listening');
  return {
    countRelays: (name) => relays.get(streamKey(name)) ?? 0,
    drain() {
      phase.isDraining = true;
      for (const response of unanswered) response.shouldKeepAlive = false;
      server.closeIdleConnections();
      for (const list of lists) sayDraining(list);
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(options: Relaying, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://live');
  if (request.method === 'POST' && pathname === '/viewers') return takeViewers(options, request, response);
  if (await answerSuccessor(options, { pathname, isDraining: options.phase.isDraining }, request, response)) return;
  request.resume();
  if (request.method !== 'GET') return refuse(response, 405);
  if (pathname === '/streams') return giveList(options, searchParams.has('successor'), response);
  const [, domain = '', app = '', stream = '', rest = ''] =
    /^\/streams\/([1-9]\d{0,9})\/([^/]+)\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
  if (!isAppName(app) || !isStreamName(stream)) return refuse(response, 404);
  const name: StreamName = { domainId: Number(domain), app, stream };
  const isForbidden = options.owner.isForbidden(name);
  const [, id = '', file = ''] = /^hls\/([a-z0-9]{1,32})\/([^/]+)$/.exec(rest) ?? [];
  const broadcastOf = (known: LiveStream | undefined) => (rest === 'flv' ? known?.broadcast : known?.broadcastOf(id));
  const inherited = options.predecessor();
  const isInherited = inherited?.has(name) === true && broadcastOf(options.owner.find(name)) === undefined;
  if (isInherited && !isForbidden) return await inherited.pass(withoutPull(request.url ?? '/'), response);
  if (rest === 'flv' && searchParams.has('origin')) {
    const status = isForbidden ? 403 : await pull(options, name, searchParams);
    if (status !== 200) return refuse(response, status);
  }
  const broadcast = isForbidden ? undefined : broadcastOf(options.owner.find(name));
  if (broadcast === undefined) return refuse(response, 404);
  if (rest === 'flv') return giveFlv(options, { broadcast, name, isPreview: searchParams.has('preview') }, response);
  await answerHls({ broadcast, stream, file, query: searchParams, onFile: options.onHlsFile }, response);
}

/** An earlier process serves what it has on air, and pulls nothing for its successor. */
function withoutPull(url: string): string {
  return url.replace(/\/flv\?origin.*$/, '/flv');
}

/** Pulls the stream if it is not on air. Returns 200, or why it cannot be had: 404, 409, 429, 502 or 504. */
async function pull({ owner, pulls }: RelayServerOptions, name: StreamName, query: URLSearchParams): Promise<number> {
  if (owner.find(name)?.broadcast !== undefined) return 200;
  const scheme = query.get('origin') === 'https' ? 'https' : 'http';
  const start = await pulls.open(name, scheme, query.get('host') ?? '');
  switch (start.kind) {
    case 'onAir':
    case 'refused': // a publisher may be on air by now
      return 200;
    case 'file':
      return 409;
    case 'notFound':
      return 404;
    case 'full':
      return 429;
    case 'failed':
      return start.isTimeout ? 504 : 502;
    default:
      return unreachable(start);
  }
}

function giveList({ owner, timers, lists, phase }: Relaying, isOfSuccessor: boolean, response: ServerResponse): void {
  if (phase.isDraining && !isOfSuccessor) {
    refuse(response, 503); // the worker finds the successor next
    return;
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  for (const line of owner.lines.list()) response.write(`${line}\n`);
  response.write('{"synced":true}\n');
  const say = (line: string) => {
    response.write(`${line}\n`);
    if (response.writableLength > MAX_LIST_BYTES) response.destroy();
  };
  const following = owner.lines.follow(say);
  let cancel = () => {};
  const sayAlive = () => {
    say('{}');
    cancel = timers.after(ALIVE_MS, sayAlive);
  };
  cancel = timers.after(ALIVE_MS, sayAlive);
  const list: FollowedList = { response, isOfSuccessor };
  lists.add(list);
  if (phase.isDraining) sayDraining(list);
  response.on('close', () => {
    cancel();
    lists.delete(list);
    following[Symbol.dispose]();
  });
}

function sayDraining({ response, isOfSuccessor }: FollowedList): void {
  if (isOfSuccessor) response.write('{"draining":true}\n');
  else response.end();
}

interface AskedFlv {
  readonly broadcast: Broadcast;
  readonly name: StreamName;
  /** Whether it is for no viewer: it is not counted, and keeps no stream on air. */
  readonly isPreview: boolean;
}

/** Attaches a worker to the hub, which drops or cuts it if it falls behind, like any viewer. */
function giveFlv(
  { viewers, relays }: Relaying,
  { broadcast, name, isPreview }: AskedFlv,
  response: ServerResponse,
): void {
  const key = streamKey(name);
  response.writeHead(200, { 'content-type': 'video/x-flv', 'causeway-broadcast': broadcast.id });
  response.flushHeaders(); // the first bytes may follow only with the next key frame
  if (!isPreview) relays.set(key, (relays.get(key) ?? 0) + 1);
  const place = broadcast.hub.attach({
    encoding: FLV_ENCODING,
    write: (bytes) => void response.write(bytes),
    get queuedBytes() {
      return response.writableLength;
    },
    /** The worker's share of the viewers, which workers report every few seconds. */
    get audience() {
      if (isPreview) return 0;
      const { flv, websocket } = viewers.of(name);
      return (flv + websocket) / (relays.get(key) ?? 1);
    },
    end: () => void response.end(),
    cut: () => void response.destroy(),
  });
  response.on('close', () => {
    place.detach();
    if (isPreview) return;
    const left = (relays.get(key) ?? 1) - 1;
    if (left > 0) relays.set(key, left);
    else relays.delete(key);
  });
}

async function takeViewers(
  { viewers, timers, predecessor }: RelayServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, MAX_REPORT_BYTES);
  if (body === undefined) return refuse(response, 413);
  const text = body.toString('utf8');
  predecessor()?.tellViewers(text);
  refuse(response, viewers.take(text, timers.now()) ? 204 : 400);
}
