/**
 * Joins the parts of the live process: listeners, streams, the workers' interface and the reports to control. Closes
 * them in reverse order. A process that takes over from another one listens once that one drains.
 */
import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Registry } from 'prom-client';
import type { SiteReader } from '#feed/store/edge-store.ts';
import { MAX_LIVE_EVENTS, MAX_LIVE_STATUSES } from '#feed/wire/live-report.ts';
import type { Clock } from '#lib/clock.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import type { AccessLog } from '#logs/spool.ts';
import { createSiteTable } from '#sites/lookup.ts';
import type { SiteTable } from '#sites/table.ts';
import { type HandOver, type LivePlaces, openHandOver } from './hand-over.ts';
import { LiveFile } from './live-file.ts';
import { addLiveMetrics, addRecordingMetrics, createHlsCounter } from './metrics.ts';
import { Mirrors } from './mirrors.ts';
import { Owner, type OwnerOptions } from './owner.ts';
import { Players } from './players.ts';
import type { Predecessor } from './predecessor.ts';
import type { ConnectOrigin } from './pull/origin-stream.ts';
import { PULL_LIMITS, type PullLimits } from './pull/pull.ts';
import { Pulls } from './pull/pulls.ts';
import { RareLines } from './rare-lines.ts';
import { openRecording, type RecordingOptions, type RecordingService } from './recording/open-recording.ts';
import { openRelayServer, type RelayServer } from './relay-server.ts';
import { joinStatuses, type Reporter, type ReporterOptions, startReporter } from './reporter.ts';
import { type RtmpServer, startRtmpServer } from './rtmp/server.ts';
import { createRtmpHooks, type RtmpHooksOptions } from './rtmp-hooks.ts';
import { SessionLines } from './session-lines.ts';
import { countViewers, listStatuses, type Watched, withPlayers } from './statuses.ts';
import type { StreamLimits } from './streams/stream-state.ts';
import { Viewers } from './viewers.ts';

export interface LiveProcessOptions extends LivePlaces {
  readonly edgeId: string;
  /** The edge's own file of settings. */
  readonly source: SiteReader;
  /** Path by which workers find the process that takes new streams: a symbolic link to its socket. */
  readonly workersPath: string;
  /** The live processes that this one takes over from, the latest first: each has followed the next. */
  readonly predecessors: readonly LivePlaces[];
  /** Places of other generations. What ended processes have left there is taken over. */
  readonly others: readonly LivePlaces[];
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
  readonly recording: Omit<RecordingOptions, 'directory'>;
  /** Overrides the default limits. */
  readonly limits?: Partial<StreamLimits>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  readonly registry: Registry;
}

export interface LiveProcess {
  /** 0 if plain RTMP is off, and while the predecessor listens. */
  readonly rtmpPort: number;
  /** 0 if RTMPS is off, and while the predecessor listens. */
  readonly rtmpsPort: number;
  /** Notified when settings of these sites (`undefined`: any) or marks have changed. */
  applyChange(names: readonly string[] | undefined): void;
  /**
   * Leaves new streams to the successor, and resolves when the last stream has ended. Publishers, players and streams
   * that are left after `limitMs` are ended.
   */
  drain(limitMs: number): Promise<void>;
  /** Ends all broadcasts, and reports that to control if it is reachable. */
  stop(graceMs: number): Promise<void>;
}

/** Compiled sites of live domains. */
const MAX_SITES = 2_000;
const BROADCAST_ID_BYTES = 16;
/** Longest wait for RTMP connections to close on shutdown, so that publishers are notified. */
const MAX_CLOSE_MS = 1_000;

/** Interval at which a process that drains looks whether its last stream has ended. */
const IDLE_POLL_MS = 250;

export async function startLiveProcess(options: LiveProcessOptions): Promise<LiveProcess> {
  const { timers, log, registry } = options;
  const file = openFile(options);
  const recording = openRecordings(options);
  const [players, viewers] = [new Players(), new Viewers()];
  const rareLines = new RareLines(log, () => timers.now());
  const sites = createSiteTable({ source: options.source, maxSites: MAX_SITES });
  const owner = createOwner(options, {
    ...{ sites, file, rareLines, recorder: recording.recorder },
    countViewers: (name) => countViewers(name, { players, viewers }) + relay.countRelays(name),
    onEvent: () => reporter?.hurry(),
  });
  const pulls = createPulls(options, owner, rareLines);
  const watched = { owner, players, viewers };
  const predecessor = () => handOver?.predecessor();
  const inherited = async () => (await predecessor()?.statuses())?.map((status) => withPlayers(status, players));
  const phase: Phase = { isDraining: false, hasStopped: false };
  let reporter: Reporter | undefined;
  let rtmp: RtmpServer | undefined;
  let handOver: HandOver | undefined;
  const relay = await openRelayServer({
    ...options,
    ...{ owner, viewers, pulls, predecessor },
    statuses: async () => joinStatuses(listStatuses(watched), (await inherited()) ?? []),
    onHlsFile: createHlsCounter(registry),
  });
  const mirrors = new Mirrors({ predecessor, log });
  handOver = await openHandOver({
    ...options,
    ...{ lines: owner.lines, file, spool: recording.spool },
    async takeOver() {
      linkTo(options.workersPath, options.socketPath);
      rtmp = await startRtmp(options, { owner, players, pulls, mirrors, predecessor, sites, rareLines });
    },
  });
  addLiveMetrics(registry, owner, file);
  addRecordingMetrics(registry, recording);
  reporter = startLiveReporter(options, {
    ...{ watched, file, predecessor },
    inherited: async () => {
      if (phase.isDraining) return undefined;
      return predecessor() === undefined ? [] : await inherited();
    },
  });
  const parts = { owner, players, pulls, relay, reporter, recording, handOver, file, phase, timers };
  return createHandle(parts, () => rtmp);
}

interface Phase {
  isDraining: boolean;
  hasStopped: boolean;
}

interface LiveParts {
  readonly owner: Owner;
  readonly players: Players;
  readonly pulls: Pulls;
  readonly relay: RelayServer;
  readonly reporter: Reporter;
  readonly recording: RecordingService;
  readonly handOver: HandOver;
  readonly file: LiveFile;
  readonly phase: Phase;
  readonly timers: Timers;
}

function createHandle(parts: LiveParts, rtmp: () => RtmpServer | undefined): LiveProcess {
  const { owner, players, pulls, relay, reporter, recording, handOver, file, phase, timers } = parts;
  let stopped: Promise<void> | undefined;
  const stop = (graceMs: number) => {
    stopped ??= stopOnce(graceMs);
    return stopped;
  };
  const stopOnce = async (graceMs: number) => {
    phase.hasStopped = true;
    owner[Symbol.dispose]();
    owner.stop();
    pulls.stop();
    handOver[Symbol.dispose]();
    await rtmp()?.close(Math.min(graceMs, MAX_CLOSE_MS));
    await recording[Symbol.asyncDispose]();
    await reporter[Symbol.asyncDispose]();
    // Before the socket: a successor takes over the file once nobody listens there.
    file[Symbol.dispose]();
    await relay[Symbol.asyncDispose]();
  };
  const untilIdle = async () => {
    while (!phase.hasStopped && !(owner.isEmpty && handOver.predecessor() === undefined))
      await new Promise<void>((resolve) => timers.after(IDLE_POLL_MS, resolve));
  };
  return {
    get rtmpPort() {
      return rtmp()?.port ?? 0;
    },
    get rtmpsPort() {
      return rtmp()?.tlsPort ?? 0;
    },
    applyChange(names) {
      owner.applyChange(names);
      players.recheck();
    },
    async drain(limitMs) {
      phase.isDraining = true;
      const connections = rtmp()?.drain();
      relay.drain();
      const limit = Promise.withResolvers<void>();
      const cancel = timers.after(limitMs, limit.resolve);
      await Promise.race([Promise.all([connections, untilIdle()]), limit.promise]);
      cancel();
      await stop(MAX_CLOSE_MS);
    },
    stop,
  };
}

/** Replaces the link in one step, so that it is never missing. */
function linkTo(path: string, socketPath: string): void {
  const next = `${path}.next`;
  rmSync(next, { force: true });
  symlinkSync(relative(dirname(path), socketPath), next);
  renameSync(next, path);
}

function newId(): string {
  return randomBytes(BROADCAST_ID_BYTES).toString('hex');
}

function openRecordings({ recording, recordings, edgeId, timers, log }: LiveProcessOptions): RecordingService {
  return openRecording({ ...recording, directory: recordings }, { edge: edgeId, newRecordingId: newId, timers, log });
}

function createOwner(
  { source, clock, timers, limits, memoryBytes, maxStreams = MAX_LIVE_STATUSES, log }: LiveProcessOptions,
  parts: Pick<OwnerOptions, 'sites' | 'file' | 'rareLines' | 'recorder' | 'countViewers' | 'onEvent'>,
): Owner {
  return new Owner({
    ...parts,
    ...{ marks: source, clock, timers, log },
    ...(limits !== undefined && { limits }),
    capacity: { maxStreams, maxBytes: memoryBytes },
    newBroadcastId: newId,
  });
}

function createPulls(options: LiveProcessOptions, owner: Owner, rareLines: RareLines): Pulls {
  return new Pulls({
    ...options,
    ...{ owner, rareLines, connect: options.connectOrigin },
    limits: { ...PULL_LIMITS, ...options.pullLimits },
  });
}

interface Reported extends Pick<ReporterOptions, 'file' | 'inherited'> {
  readonly watched: Watched & { readonly owner: Owner; readonly viewers: Viewers };
  predecessor(): Predecessor | undefined;
}

function startLiveReporter(options: LiveProcessOptions, { watched, file, inherited, predecessor }: Reported): Reporter {
  return startReporter({
    ...options,
    ...{ edge: options.edgeId, file, inherited },
    statuses: () => {
      watched.viewers.sweep(options.timers.now());
      return listStatuses(watched);
    },
    onNotOwned: (broadcasts) => {
      watched.owner.disown(broadcasts);
      predecessor()?.disown(broadcasts);
    },
    everyMs: options.reportMs,
    maxEvents: MAX_LIVE_EVENTS,
    random: Math.random,
  });
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
  {
    sites,
    ...parts
  }: Pick<RtmpHooksOptions, 'owner' | 'players' | 'pulls' | 'mirrors' | 'predecessor' | 'rareLines'> & {
    readonly sites: SiteTable;
  },
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
