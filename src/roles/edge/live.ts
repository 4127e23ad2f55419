/** The process that owns this machine's live streams, by its settings. */
import { ConnectError, createConnector } from '#edge/origin/connector.ts';
import { createGuard } from '#edge/origin/guard.ts';
import { createResolver } from '#edge/origin/resolve.ts';
import type { ControlLink } from '#feed/client/control-link.ts';
import { requestFeed } from '#feed/client/feed-request.ts';
import { openSiteReader } from '#feed/store/edge-store.ts';
import { type LiveReport, type LiveReportAnswer, parseLiveAnswer } from '#feed/wire/live-report.ts';
import { LIVE_PATH, RECORDINGS_PATH } from '#feed/wire/protocol.ts';
import { steadyClock, systemClock } from '#lib/clock.ts';
import { systemTimers } from '#lib/timers.ts';
import { startLiveProcess } from '#live/live-process.ts';
import type { ConnectOrigin } from '#live/pull/origin-stream.ts';
import type { PartContext, RunningPart } from '../process/child.ts';
import { namesOfSlot } from '../process/process-plan.ts';
import { openAccessLog } from './access-log.ts';
import { openControlLink } from './control-link.ts';
import { edgeStorePath } from './edge-paths.ts';
import { livePlaces, liveSocketPath } from './live-places.ts';
import { postTo } from './post-to-control.ts';

const REPORT_MS = 5_000;
/** Time for control to write a report to its database; after a longer silence it counts as dead. */
const REPORT_SILENCE_MS = 30_000;

export async function startLive(context: PartContext): Promise<RunningPart> {
  const { config, log, registry, name, slot, predecessors = [] } = context;
  const placesOf = (process: string) => livePlaces(config.dataDir, process);
  const { log: accessLog, use: useTails } = openAccessLog(context);
  const source = openSiteReader(edgeStorePath(config.dataDir));
  const link = await openControlLink(config);
  const live = await startLiveProcess({
    edgeId: config.edgeId,
    source,
    ...placesOf(name),
    workersPath: liveSocketPath(config.dataDir),
    predecessors: predecessors.map(placesOf),
    others: namesOfSlot(slot)
      .filter((other) => other !== name && !predecessors.includes(other))
      .map(placesOf),
    rtmpListen: config.rtmpListen,
    rtmpsListen: config.rtmpsListen,
    rtmpSockets: context.sockets.rtmp,
    rtmpsSockets: context.sockets.rtmps,
    pushAuth: config.livePushAuth,
    memoryBytes: config.liveMemory,
    trustedProxies: config.edgeTrustedProxies,
    proxyProtocol: config.edgeProxyProtocol,
    accessLog,
    connectOrigin: createOriginConnect(context),
    post: postReportTo(link),
    reportMs: REPORT_MS,
    recording: {
      maxBytes: config.liveRecordSpool,
      post: postTo(link, RECORDINGS_PATH),
    },
    clock: systemClock,
    timers: systemTimers,
    log,
    registry,
  });
  let closed: Promise<void> | undefined;
  const closeRest = async () => {
    await accessLog.close();
    link[Symbol.dispose]();
    source[Symbol.dispose]();
  };
  const end = async (endLive: () => Promise<void>) => {
    await endLive();
    closed ??= closeRest();
    await closed;
  };
  return {
    applyChange({ names }) {
      link.announce(source.announcedControls());
      live.applyChange(names);
    },
    useTails,
    drain: ({ limitMs }) => end(() => live.drain(limitMs)),
    stop: (graceMs) => end(() => live.stop(graceMs)),
  };
}

const CONNECT_MS = 5_000;

/** Connects like the edge, guarded: no origin can lead it into this machine's network. */
function createOriginConnect({ config, ownAddresses }: PartContext): ConnectOrigin {
  const connect = createConnector({
    guard: createGuard({ allow: config.originAllow, refuse: ownAddresses }),
    resolve: createResolver({ monotonic: steadyClock }),
    timeoutMs: CONNECT_MS,
    verify: config.originVerify,
  });
  return async (place) => {
    try {
      return { kind: 'connected', socket: await connect(place) };
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      return { kind: 'failed', isTimeout: error.failure === 'originConnectTimeout', detail: error.message };
    }
  };
}

function postReportTo(link: ControlLink) {
  return async (report: LiveReport, signal: AbortSignal): Promise<LiveReportAnswer> => {
    const body = JSON.stringify(report);
    const answer = await requestFeed({ link, path: LIVE_PATH, signal, silenceMs: REPORT_SILENCE_MS, body });
    let text = '';
    for await (const piece of answer.setEncoding('utf8')) text += piece;
    return parseLiveAnswer(text);
  };
}
