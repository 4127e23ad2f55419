/**
 * The process that a person or an init system starts. It owns the data directory, settles the addresses, keeps the
 * parts running, and stops them in order. It serves only the metrics itself.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config, ListenVariables } from '#config';
import { FOLDERS, type OpenedDirectory, openDataDirectory, takeLock } from '#lib/data-directory.ts';
import { reachableHost } from '#lib/listen-address.ts';
import { listeningAddressOf } from '#lib/listening-descriptor.ts';
import type { LogSink } from '#lib/log-sink.ts';
import { createLogger, type Logger, openLogSink } from '#lib/logger.ts';
import { canBindSockets } from '#lib/node-internals/bound-sockets.ts';
import { reportNodeInternals } from '#lib/node-internals/report.ts';
import { type SettingInForce, settingName } from '#lib/settings.ts';
import { findControl, removeControlFile, writeControlFile } from '../control/control-file.ts';
import { prepareFleetEdge, startFleetRenewal } from '../edge/fleet-edge.ts';
import { announce, urlOf } from '../process/announce.ts';
import { planParts } from '../process/process-plan.ts';
import { claimAddresses } from '../sockets/claim-address.ts';
import { HeldSockets, type Slot } from '../sockets/held-sockets.ts';
import { type InheritedListener, readInheritedSockets } from '../sockets/inherited-sockets.ts';
import { LISTENER_KEYS, type ListenerName, listenersOf, wantedAddresses } from '../sockets/listeners.ts';
import { openLocalSocket } from '../sockets/local-socket.ts';
import { supervisorSocketPath } from '../sockets/worker-sockets.ts';
import { createNotify } from './notify.ts';
import { createRestart, type Reloaded } from './restarts.ts';
import { Service } from './service.ts';
import type { StopRequest } from './stop-request.ts';

export interface ServeOptions {
  readonly config: Config;
  /** The settings with where each comes from, without secrets. */
  readonly settings: readonly SettingInForce[];
  /** Reads the settings again. */
  reload(): Reloaded;
  readonly listenVariables: ListenVariables;
  /** The socket on which systemd waits for news; `undefined`: it does not. */
  readonly notifySocket: string | undefined;
  /** The program that the parts are started from. */
  readonly entry: string;
  readonly build: string;
  /** Writes a line for people. */
  print(line: string): void;
  /** Whether the output is a terminal, which only the person who started the service reads. */
  readonly isTerminal: boolean;
  readonly stopRequest: StopRequest;
}

/** How it ended. `problems` are lines for people. */
export type Served = { readonly kind: 'stopped' } | { readonly kind: 'cut' } | Refused;

interface Refused {
  readonly kind: 'refused';
  readonly problems: readonly string[];
}

/** Time for requests in flight when the service stops. */
const STOP_GRACE_MS = 10_000;
const LOCK_LIMIT_MS = 3000;
const LOCK_POLL_MS = 50;
const CACHE_LOCK = 'service.lock';

/** Runs the service until it is asked to stop. */
export async function serve(options: ServeOptions): Promise<Served> {
  process.umask(0o077); // also of the parts: what the service writes is its user's alone
  const { dataDir, logLevel } = options.config;
  const sink = openLogSink('supervisor');
  const log = createLogger({ level: logLevel, name: 'supervisor', destination: sink });
  options.stopRequest.onIgnored((signal) => log.info({ signal }, 'signal ignored; use SIGTERM to stop the service'));
  const inherited = readInheritedSockets(options.listenVariables, {
    wanted: new Map(listenersOf(options.config).map(({ name, address }) => [name, address.port])),
    addressOf: listeningAddressOf,
  });
  if (inherited.kind === 'refused') return inherited;
  const { listeners } = inherited;
  let directory = await openFreeDirectory(dataDir, { make: false });
  if (directory.kind === 'absent') {
    const settled = await settleAddresses(options.config, listeners);
    if (settled.kind === 'refused') return settled; // before anything is created
    directory = await openFreeDirectory(dataDir, { make: true });
  }
  if (directory.kind !== 'directory') return refused(describeRefusal(dataDir, directory));
  using _lock = directory.lock;
  if (directory.wasOpen)
    log.warn({ dataDir }, 'the data directory was accessible to other users; removed their permissions');
  for (const folder of FOLDERS) mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 });
  const cacheLock = lockCache(options.config, log);
  if (cacheLock === 'inUse')
    return refused(
      `the cache directory ${options.config.cacheDirectory} is in use by another causeway service; specify another with ${settingName('cacheDisk')}`,
    );
  using _cacheLock = cacheLock;
  removeControlFile(dataDir);

  const prepared = await prepareFleetEdge(options.config, options.build, log);
  if (prepared.kind === 'refused') return refused(prepared.problem);
  const settled = await settleAddresses(prepared.config, listeners);
  if (settled.kind === 'refused') return settled;
  // Awaited: otherwise the lock would be released at once.
  return await run(options, settled.config, listeners, { log, sink });
}

function describeRefusal(dataDir: string, directory: Exclude<OpenedDirectory, { kind: 'directory' }>): string {
  if (directory.kind === 'inUse')
    return `the data directory ${dataDir} is in use by another causeway process; stop it, or specify another directory with --data-dir`;
  const problem = directory.kind === 'absent' ? 'it does not exist' : directory.problem;
  return `the data directory cannot be used: ${problem}; specify another with --data-dir`;
}

/** Takes the lock of the cache directory. `undefined`: there is no cache on disk, or it cannot be used now. */
function lockCache(config: Config, log: Logger): Disposable | 'inUse' | undefined {
  const { roles, cacheDirectory, cacheDiskBytes } = config;
  if (!roles.includes('edge') || cacheDiskBytes === 0) return undefined;
  try {
    mkdirSync(cacheDirectory, { recursive: true, mode: 0o700 });
    return takeLock(join(cacheDirectory, CACHE_LOCK)) ?? 'inUse';
  } catch (error) {
    log.warn({ err: error, cacheDirectory }, 'cannot lock the cache directory');
    return undefined;
  }
}

/** A command may hold the lock for a moment; a running service keeps it. */
async function openFreeDirectory(dataDir: string, how: { readonly make: boolean }): Promise<OpenedDirectory> {
  for (let waitedMs = 0; ; waitedMs += LOCK_POLL_MS) {
    const directory = openDataDirectory(dataDir, how);
    const mayBecomeFree = waitedMs < LOCK_LIMIT_MS && findControl(dataDir) === undefined;
    if (directory.kind !== 'inUse' || !mayBecomeFree) return directory;
    await delay(LOCK_POLL_MS);
  }
}

async function run(
  options: ServeOptions,
  config: Config,
  inherited: ReadonlyMap<ListenerName, InheritedListener>,
  { log, sink }: { readonly log: Logger; readonly sink: LogSink },
): Promise<Served> {
  const { entry, build, stopRequest, print } = options;
  const localSecret = randomBytes(32).toString('base64url');
  const common = { build, localSecret, settings: options.settings };
  const notify = createNotify(options.notifySocket, log);
  const parts = planParts(config, common);
  using sockets = await holdSockets(config, parts, inherited, log);
  await using _renewal = await startFleetRenewal(config, log);
  await using service = await Service.start({ parts, sockets, entry, config, log, sink });
  const beginning = await Promise.race([service.started, stopRequest.requested]);
  if (typeof beginning !== 'string' && beginning.kind === 'failed') return refused(beginning.problem);
  const inForce = { given: options.config, running: config };
  const restart = createRestart({ ...options, settings: inForce, common, service, holdsSockets: sockets.isWhole, log });
  // Commands may wait until the service says that it is ready.
  await using _commands = await openLocalSocket({
    path: supervisorSocketPath(config.dataDir),
    answer: (question) => restart(isForced(question)),
    log,
  });
  if (typeof beginning !== 'string') {
    const problem = config.roles.includes('control') ? tellCommands(config, localSecret) : undefined;
    if (problem !== undefined) return refused(problem);
    announce({ ...options, config, news: beginning.news });
    await notify('READY=1');
  }
  log.info({ reason: await stopRequest.requested }, 'stopping');
  print(
    `causeway is stopping: requests in flight have ${STOP_GRACE_MS / 1000} s to finish; send the signal again to cut them off`,
  );
  void notify('STOPPING=1'); // never rejects
  removeControlFile(config.dataDir);
  // Asked before the parts are told to stop. Idle parts may end without an answer; then there is nothing to report.
  void service.countUnderWay().then((requests) => requests > 0 && print(`requests in flight: ${requests}`));
  const stopping = service.stop(STOP_GRACE_MS);
  // Otherwise new connections would wait in sockets that nobody accepts from, instead of being refused.
  sockets[Symbol.dispose]();
  const stopped = stopping.then((): Served => ({ kind: 'stopped' }));
  const served = await Promise.race([stopped, stopRequest.repeated.then((): Served => ({ kind: 'cut' }))]);
  print(served.kind === 'stopped' ? 'causeway has stopped' : 'causeway has cut off requests in flight');
  return served;
}

async function holdSockets(
  config: Config,
  slots: readonly Slot[],
  inherited: ReadonlyMap<ListenerName, InheritedListener>,
  log: Logger,
): Promise<HeldSockets> {
  reportNodeInternals(log, { boundSockets: canBindSockets });
  return await HeldSockets.bind({ listeners: listenersOf(config), slots, inherited, canBind: canBindSockets() });
}

function isForced(question: unknown): boolean {
  return typeof question === 'object' && question !== null && 'isForced' in question && question.isForced === true;
}

/** Writes the file by which commands of this machine find the service. Returns the problem if that fails. */
function tellCommands({ dataDir, controlListen, controlTls }: Config, localSecret: string): string | undefined {
  const url = urlOf({ ...controlListen, host: reachableHost(controlListen.host) }, controlTls !== undefined);
  const certificate = controlTls?.cert;
  try {
    writeControlFile(dataDir, {
      pid: process.pid,
      url,
      localSecret,
      ...(certificate !== undefined && { certificate }),
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Returns the configuration with its final ports, or all problems with them. Inherited listeners have their addresses
 * already.
 */
async function settleAddresses(
  config: Config,
  inherited: ReadonlyMap<ListenerName, InheritedListener>,
): Promise<{ readonly kind: 'settled'; readonly config: Config } | Refused> {
  const given = [...inherited].map(([name, { address }]) => [LISTENER_KEYS[name], address] as const);
  const wanted = wantedAddresses(config).filter(({ key }) => given.every(([known]) => known !== key));
  const claims = await claimAddresses(wanted);
  if (claims.kind === 'claimed')
    return { kind: 'settled', config: { ...config, ...Object.fromEntries([...given, ...claims.addresses]) } };
  const problems = claims.problems.map(({ key, problem }) => `${problem} (setting ${settingName(key)})`);
  return { kind: 'refused', problems };
}

function refused(problem: string): Refused {
  return { kind: 'refused', problems: [problem] };
}
