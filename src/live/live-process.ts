/**
 * Joins the parts of the live process: listeners, streams, the workers' interface and the reports to control. Closes
 * them in reverse order.
 */
import { randomBytes } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Registry } from 'prom-client';
import type { SiteReader } from '#feed/edge-store.ts';
import { MAX_LIVE_EVENTS, MAX_LIVE_STATUSES } from '#feed/live-report.ts';
import type { Clock } from '#lib/clock.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import type { AccessLog } from '#logs/spool.ts';
import { createSiteTable } from '#sites/lookup.ts';
import type { SiteTable } from '#sites/table.ts';
import { LiveFile } from './live-file.ts';
import { addLiveMetrics, addRecordingMetrics, createHlsCounter } from './metrics.ts';
import { Owner } from './owner.ts';
import { Players } from './players.ts';
import type { ConnectOrigin } from './pull/origin-stream.ts';
import { PULL_LIMITS, type PullLimits } from './pull/pull.ts';
import { Pulls } from './pull/pulls.ts';
import { RareLines } from './rare-lines.ts';
import { openRecording, type RecordingOptions } from './recording/open-recording.ts';
import { openRelayServer } from './relay-server.ts';
import { type Reporter, type ReporterOptions, startReporter } from './reporter.ts';
import { type RtmpServer, startRtmpServer } from './rtmp/server.ts';
import { createRtmpHooks } from './rtmp-hooks.ts';
import { SessionLines } from './session-lines.ts';
import { countViewers, listStatuses } from './statuses.ts';
import type { StreamLimits } from './streams/stream-state.ts';
import { Viewers } from './viewers.ts';

export interface LiveProcessOptions {
  readonly edgeId: string;
  /** The edge's own file of settings. */
  readonly source: SiteReader;
  /** The file of events and of the streams on air; created if missing. */
  readonly file: string;
  /** Unix socket that the edge workers connect to. */
  readonly socketPath: string;
  readonly rtmpListen: ListenAddress | 'off';
  readonly rtmpsListen: ListenAddress | 'off';
  /** Descriptors of sockets that are bound to these addresses already; absent: binds them. */
  readonly rtmpSockets?: readonly number[] | undefined;
  readonly rtmpsSockets?: readonly number[] | undefined;
  readonly pushAuth: 'off' | 'required';
  /** Limits the media that all streams keep for new viewers. */
  readonly memoryBytes: number;
  /** Overrides the default limit on streams. */
  readonly maxStreams?: number;
  readonly trustedProxies: readonly string[];
  readonly proxyProtocol: 'off' | 'required';
  readonly accessLog: Pick<AccessLog, 'write' | 'countOrigin'>;
  readonly connectOrigin: ConnectOrigin;
  /** Overrides the default limits. */
  readonly pullLimits?: Partial<PullLimits>;
  readonly post: ReporterOptions['post'];
  readonly reportMs: number;
  readonly recording: RecordingOptions;
  /** Overrides the default limits. */
  readonly limits?: Partial<StreamLimits>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  readonly registry: Registry;
}

export interface LiveProcess {
  /** 0 if plain RTMP is off. */
  readonly rtmpPort: number;
  /** 0 if RTMPS is off. */
  readonly rtmpsPort: number;
  /** Notified when settings of these sites (`undefined`: any) or marks have changed. */
  applyChange(names: readonly string[] | undefined): void;
  /** Ends all broadcasts, and reports that to control if it is reachable. */
  stop(graceMs: number): Promise<void>;
}

/** Compiled sites of live domains. */
const MAX_SITES = 2_000;
const BROADCAST_ID_BYTES = 16;
/** Longest wait for RTMP connections to close on shutdown, so that publishers are notified. */
const MAX_CLOSE_MS = 1_000;

export async function startLiveProcess(options: LiveProcessOptions): Promise<LiveProcess> {
  const { source, clock, timers, log, limits, memoryBytes, maxStreams = MAX_LIVE_STATUSES } = options;
  const sites = createSiteTable({ source, maxSites: MAX_SITES });
  const file = openFile(options);
  const rareLines = new RareLines(log, () => timers.now());
  const players = new Players();
  const viewers = new Viewers();
  let reporter: Reporter | undefined;
  const newId = () => randomBytes(BROADCAST_ID_BYTES).toString('hex');
  const recording = openRecording(options.recording, { ...options, edge: options.edgeId, newRecordingId: newId });
  const owner = new Owner({
    sites,
    marks: source,
    file,
    clock,
    timers,
    ...(limits !== undefined && { limits }),
    capacity: { maxStreams, maxBytes: memoryBytes },
    recorder: recording.recorder,
    newBroadcastId: newId,
    countViewers: (name) => countViewers(name, { players, viewers }) + relay.countRelays(name),
    onEvent: () => reporter?.hurry(),
    log,
    rareLines,
  });
  const pulls = new Pulls({
    ...options,
    owner,
    rareLines,
    connect: options.connectOrigin,
    limits: { ...PULL_LIMITS, ...options.pullLimits },
  });
  const onHlsFile = createHlsCounter(options.registry);
  const relay = await openRelayServer({ ...options, owner, viewers, pulls, onHlsFile });
  const rtmp = await startRtmp(options, { owner, players, pulls, sites, rareLines });
  addLiveMetrics(options.registry, owner, file);
  addRecordingMetrics(options.registry, recording);
  reporter = startReporter({
    ...options,
    edge: options.edgeId,
    file,
    statuses: () => {
      viewers.sweep(timers.now());
      return listStatuses({ owner, players, viewers });
    },
    onNotOwned: (broadcasts) => owner.disown(broadcasts),
    everyMs: options.reportMs,
    maxEvents: MAX_LIVE_EVENTS,
    random: Math.random,
  });
  return {
    rtmpPort: rtmp?.port ?? 0,
    rtmpsPort: rtmp?.tlsPort ?? 0,
    applyChange(names) {
      owner.applyChange(names);
      players.recheck();
    },
    async stop(graceMs) {
      owner[Symbol.dispose]();
      owner.stop();
      pulls.stop();
      await rtmp?.close(Math.min(graceMs, MAX_CLOSE_MS));
      await recording[Symbol.asyncDispose]();
      await reporter[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
      file[Symbol.dispose]();
    },
  };
}

function openFile({ file, log }: LiveProcessOptions): LiveFile {
  return new LiveFile(file, {
    onMoved: (to) => log.error({ to }, 'the live streams file is damaged; moved it aside and started a new one'),
    onLost: (error) =>
      log.error(
        { err: error, file },
        'cannot save the state of live streams; if the process is killed now, events not yet reported to control are lost',
      ),
    onRestored: () => log.info({ file }, 'the state of live streams is being saved again'),
  });
}

async function startRtmp(
  { rtmpListen, rtmpsListen, rtmpSockets, rtmpsSockets, source, ...options }: LiveProcessOptions,
  { sites, ...parts }: { owner: Owner; players: Players; pulls: Pulls; sites: SiteTable; rareLines: RareLines },
): Promise<RtmpServer | undefined> {
  if (rtmpListen === 'off' && rtmpsListen === 'off') return undefined;
  const secureContexts = (serverName: string) => secureContextOf(serverName, source, sites);
  return await startRtmpServer({
    plain: rtmpListen === 'off' ? undefined : { listen: rtmpListen, sockets: rtmpSockets },
    tls: rtmpsListen === 'off' ? undefined : { listen: rtmpsListen, sockets: rtmpsSockets, secureContexts },
    hooks: createRtmpHooks({ ...options, ...parts, marks: source, lines: new SessionLines(options) }),
    trustedProxies: options.trustedProxies,
    proxyProtocol: options.proxyProtocol,
    timers: options.timers,
    log: options.log,
    registry: options.registry,
  });
}

/** Creates a context for each connection: publishers are few, and their connections last. */
function secureContextOf(serverName: string, source: SiteReader, sites: SiteTable): SecureContext | undefined {
  const tls = sites.find(serverName)?.tls;
  const pairs = [tls?.certificate, tls?.secondCertificate]
    .flatMap((key) => (key === undefined ? [] : [source.getCertificate(key)]))
    .filter((pair) => pair !== undefined);
  if (tls === undefined || pairs.length === 0) return undefined;
  return createSecureContext({
    cert: pairs.map(({ certificate }) => certificate),
    key: pairs.map(({ key }) => key),
    minVersion: tls.minVersion === '1.3' ? 'TLSv1.3' : 'TLSv1.2',
  });
}
