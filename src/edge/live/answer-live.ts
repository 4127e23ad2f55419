/**
 * The stage of live streams: answers requests for paths of streams of a live domain. All other paths are ordinary.
 */
import type { HubViewer } from '#fanout/encoding.ts';
import type { Relay } from '#fanout/relay.ts';
import { formatDate } from '#http/dates.ts';
import { handshakeHeaders } from '#http/web-socket.ts';
import { clientNetwork } from '#lib/cidr.ts';
import { unreachable } from '#lib/unreachable.ts';
import { type StreamName, streamKey } from '#sites/live.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeContext } from '../context.ts';
import type { CacheMark } from '../reasons.ts';
import type { EdgeRequest } from '../request.ts';
import { type EdgeAnswer, type LiveSession, NO_BODY } from '../respond/edge-answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { refusalAnswer } from '../respond/refusal.ts';
import { describeRequest } from '../stages/access-log.ts';
import { isStillAllowed } from '../stages/still-allowed.ts';
import type { Viewer } from '../viewer.ts';
import { corsError, withCors } from './cors.ts';
import { decideLive } from './decide-live.ts';
import { HttpSink, WebSocketSink } from './flv-sinks.ts';
import { answerHls } from './hls.ts';
import type { LiveEdge } from './live.ts';
import { lineSince, openLedger } from './session.ts';

interface Asked {
  readonly request: EdgeRequest;
  readonly site: Site;
}

interface AskedStream extends Asked {
  readonly viewer: Viewer;
  readonly edge: EdgeContext;
  readonly live: LiveEdge;
  readonly name: StreamName;
  /** Whether the live process has to pull the stream. */
  readonly isPull: boolean;
}

export type LiveAnswer =
  /** No stream has this path. */
  | { readonly kind: 'ordinary' }
  /** `undefined`: the viewer has left. */
  | { readonly kind: 'answer'; readonly answer: EdgeAnswer | undefined };

const ORDINARY: LiveAnswer = { kind: 'ordinary' };

export async function answerLive(
  viewer: Viewer,
  edge: EdgeContext,
  live: LiveEdge,
  { request, site }: Asked,
): Promise<LiveAnswer> {
  const now = edge.clock();
  const decision = decideLive(live, site, request, now);
  const answer = (given: EdgeAnswer | undefined): LiveAnswer => ({ kind: 'answer', answer: given });
  switch (decision.kind) {
    case 'ordinary':
      return ORDINARY;
    case 'preflight':
      return answer(preflightAnswer(now));
    case 'denied':
      return answer({ ...refuse(site, decision.reason, now), closes: request.facts.hasBody });
    case 'unavailable':
      return answer(corsError(503, 'liveUnavailable', now));
    case 'absent':
      return answer(corsError(404, 'noStream', now));
    case 'malformed':
      return answer(corsError(400, 'liveDirectives', now));
    case 'pull':
    case 'flv':
      return answerFlv({ request, site, viewer, edge, live, name: decision.name, isPull: decision.kind === 'pull' });
    case 'hls':
      return answer(await answerHls(viewer, edge, live, { ...decision, request, site }));
    default:
      return unreachable(decision);
  }
}

function refuse(site: Site, reason: 'playKey' | 'paused', now: number): EdgeAnswer {
  return { ...refusalAnswer(site, reason, now), isLive: true };
}

function preflightAnswer(now: number): EdgeAnswer {
  const headers = ['Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS', 'Access-Control-Allow-Headers', '*'];
  return {
    status: 204,
    reason: 'No Content',
    headers: withCors([...headers, 'Access-Control-Max-Age', '600', 'Date', formatDate(now)]),
    body: NO_BODY,
    mark: { status: 'OWN', reason: 'livePreflight' },
    isLive: true,
  };
}

async function answerFlv(asked: AskedStream): Promise<LiveAnswer> {
  const { edge, live, site, request, viewer, name, isPull } = asked;
  const answer = (given: EdgeAnswer | undefined): LiveAnswer => ({ kind: 'answer', answer: given });
  if (request.method === 'HEAD') return answer({ ...flvHead(edge.clock()), body: NO_BODY, mark: { status: 'HIT' } });
  const opened = await live.relays.open(name, isPull ? request : undefined);
  if (viewer.isGone) return answer(undefined);
  switch (opened.kind) {
    case 'file':
      return ORDINARY;
    case 'failed': {
      const { status } = opened;
      if (status === 403) return answer(refuse(site, 'paused', edge.clock()));
      const isOfOrigin = status === 502 || status === 504;
      if (status === 429) return answer(corsError(503, 'liveShare', edge.clock()));
      const reason = status === 404 ? 'noStream' : isOfOrigin ? 'livePull' : 'liveUnavailable';
      return answer(corsError(status === 404 || isOfOrigin ? status : 503, reason, edge.clock()));
    }
    case 'relay':
      return answer(flvAnswer(asked, opened.relay, isPull && opened.isFirst));
  }
}

function flvHead(now: number) {
  const headers = ['Content-Type', 'video/x-flv', 'Cache-Control', 'no-store', 'Date', formatDate(now)];
  return { status: 200, reason: 'OK', headers: withCors(headers), isLive: true } as const;
}

/** `isPulled`: the stream was pulled for this viewer. */
function flvAnswer(asked: AskedStream, relay: Relay, isPulled: boolean): EdgeAnswer {
  const { edge, site, request, viewer } = asked;
  const mark: CacheMark = isPulled ? { status: 'MISS', reason: 'liveStream' } : { status: 'HIT' };
  const now = edge.clock();
  if (request.upgrade === undefined) {
    return { ...flvHead(now), mark, body: { kind: 'session', session: openSession(asked, relay, 'flv') } };
  }
  const free = edge.webSockets.take({ client: clientNetwork(request.clientAddress), domainId: site.id });
  if (free === undefined) return errorAnswer(503, { status: 'ERROR', reason: 'tooManyWebSockets' }, now);
  void viewer.ended.then(free);
  const headers = handshakeHeaders(request.headers);
  const body = { kind: 'session', session: openSession(asked, relay, 'websocket') } as const;
  return { status: 101, reason: 'Switching Protocols', headers, mark, isLive: true, body };
}

function openSession(asked: AskedStream, relay: Relay, kind: LiveSession['kind']): LiveSession {
  const { edge, live, request, site, name } = asked;
  const stream = streamKey(name);
  const ledger = openLedger(edge.clock());
  const isAllowed = () => isStillAllowed(edge, request, site.id);
  const run = async (viewer: Viewer, answer: EdgeAnswer): Promise<void> => {
    const sink = openSink(viewer, kind, edge.clientIdleMs);
    if (sink === undefined) return;
    const writeLine = (endedAt: number) => {
      const ending = { startedAt: ledger.at, endedAt, cutStatus: undefined };
      const named = { host: request.host, domainId: site.id, hasKeys: true };
      edge.writeLog(site.id, lineSince(ledger, describeRequest(viewer, named, answer, ending), viewer.statusSent));
    };
    const leave = live.sessions.enter({ stream, kind, ledger, isAllowed, cut: () => sink.cut(), writeLine });
    const seat = relay.attach(sink);
    if (!isAllowed()) sink.cut(); // the rules changed while the relay was opened
    await viewer.ended;
    seat.detach();
    leave();
  };
  return { kind, ledger, run };
}

/** Returns `undefined` if the viewer has left. */
function openSink(viewer: Viewer, kind: LiveSession['kind'], idleMs: number): HubViewer | undefined {
  if (kind === 'flv') return new HttpSink(viewer);
  const socket = viewer.switchProtocols();
  return socket && new WebSocketSink(socket, idleMs);
}
