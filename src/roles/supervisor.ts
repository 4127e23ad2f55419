/**
 * The process that a person or an init system starts. It owns the data directory, settles the addresses, keeps the
 * parts running and brings them down in good order. It serves nothing itself but the metrics.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '#config';
import { FOLDERS, type OpenedDirectory, openDataDirectory, takeLock } from '#lib/data-directory.ts';
import { reachableHost } from '#lib/listen-address.ts';
import type { LogSink } from '#lib/log-sink.ts';
import { createLogger, type Logger, openLogSink } from '#lib/logger.ts';
import { settingName } from '#lib/settings.ts';
import { announce, urlOf } from './announce.ts';
import { claimAddresses, type Wanted } from './claim-address.ts';
import { findControl, removeControlFile, writeControlFile } from './control-file.ts';
import { prepareFleetEdge, startFleetRenewal } from './fleet-edge.ts';
import { planParts } from './process-plan.ts';
import { Service } from './service.ts';
import type { StopRequest } from './stop-request.ts';

export interface ServeOptions {
  readonly config: Config;
  /** The program that the parts are started from. */
  readonly entry: string;
  readonly build: string;
  /** Writes a line for people. */
  print(line: string): void;
  /** Whether only the person who started it reads what is printed. */
  readonly isTerminal: boolean;
  readonly stopRequest: StopRequest;
}

/** How it ended. `problems` are lines for people. */
export type Served = { readonly kind: 'stopped' } | { readonly kind: 'cut' } | Refused;

interface Refused {
  readonly kind: 'refused';
  readonly problems: readonly string[];
}

/** Requests under way have this long when the service stops. */
const STOP_GRACE_MS = 10_000;
const LOCK_LIMIT_MS = 3000;
const LOCK_POLL_MS = 50;
const CACHE_LOCK = 'service.lock';

/** Runs the service until it is asked to stop. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { dataDir, logLevel } = options.config;
  const sink = openLogSink('supervisor');
  const log = createLogger({ level: logLevel, name: 'supervisor', destination: sink });
  options.stopRequest.onIgnored((signal) => log.info({ signal }, 'signal ignored; use SIGTERM to stop the service'));
  let directory = await openFreeDirectory(dataDir, { make: false });
  if (directory.kind === 'absent') {
    const settled = await settleAddresses(options.config);
    if (settled.kind === 'refused') return settled; // and nothing was made
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
  const settled = await settleAddresses(prepared.config);
  if (settled.kind === 'refused') return settled;
  // Awaited, or the lock would be let go at once.
  return await run({ ...options, config: settled.config }, log, sink);
}

function describeRefusal(dataDir: string, directory: Exclude<OpenedDirectory, { kind: 'directory' }>): string {
  if (directory.kind === 'inUse')
    return `the data directory ${dataDir} is in use by another causeway process; stop it, or specify another directory with --data-dir`;
  const problem = directory.kind === 'absent' ? 'it is not there' : directory.problem;
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

/** A command may hold the directory for a moment; a service that runs there keeps it, and has said so. */
async function openFreeDirectory(dataDir: string, how: { readonly make: boolean }): Promise<OpenedDirectory> {
  for (let waitedMs = 0; ; waitedMs += LOCK_POLL_MS) {
    const directory = openDataDirectory(dataDir, how);
    const mayBecomeFree = waitedMs < LOCK_LIMIT_MS && findControl(dataDir) === undefined;
    if (directory.kind !== 'inUse' || !mayBecomeFree) return directory;
    await delay(LOCK_POLL_MS);
  }
}

async function run(options: ServeOptions, log: Logger, sink: LogSink): Promise<Served> {
  const { config, entry, build, stopRequest, print } = options;
  const localSecret = randomBytes(32).toString('base64url');
  const parts = planParts(config, { build, localSecret });
  await using _renewal = await startFleetRenewal(config, log);
  await using service = await Service.start({ parts, entry, config, log, sink });
  const beginning = await Promise.race([service.started, stopRequest.requested]);
  if (typeof beginning !== 'string') {
    if (beginning.kind === 'failed') return refused(beginning.problem);
    const problem = config.roles.includes('control') ? tellCommands(config, localSecret) : undefined;
    if (problem !== undefined) return refused(problem);
    announce({ ...options, firstToken: beginning.firstToken });
  }
  log.info({ reason: await stopRequest.requested }, 'stopping');
  print(
    `causeway is stopping: requests in flight have ${STOP_GRACE_MS / 1000} s to finish; send the signal again to cut them off`,
  );
  removeControlFile(config.dataDir);
  // Asked before the order to stop. Idle parts may end without an answer, and then there is nothing to report.
  void service.countUnderWay().then((requests) => requests > 0 && print(`requests in flight: ${requests}`));
  const stopped = service.stop(STOP_GRACE_MS).then((): Served => ({ kind: 'stopped' }));
  const served = await Promise.race([stopped, stopRequest.repeated.then((): Served => ({ kind: 'cut' }))]);
  print(served.kind === 'stopped' ? 'causeway has stopped' : 'causeway has cut off requests in flight');
  return served;
}

/** Returns the problem when commands of this machine could not find the service. */
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

const RTMP_KEYS = ['rtmpListen', 'rtmpsListen'] as const;

type ListenKey =
  | 'metricsListen'
  | 'controlListen'
  | 'fleetListen'
  | 'edgeHttpListen'
  | 'edgeHttpsListen'
  | (typeof RTMP_KEYS)[number];

/** The configuration with the ports that there will be, or everything that stands in the way. */
async function settleAddresses(
  config: Config,
): Promise<{ readonly kind: 'settled'; readonly config: Config } | Refused> {
  const wanted: Wanted<ListenKey>[] = [];
  if (config.roles.includes('control'))
    wanted.push({ key: 'controlListen', who: 'control', address: config.controlListen });
  if (config.roles.includes('control') && config.fleetListen !== 'off')
    wanted.push({ key: 'fleetListen', who: 'the fleet', address: config.fleetListen });
  if (config.roles.includes('edge'))
    wanted.push({ key: 'edgeHttpListen', who: 'the edge', address: config.edgeHttpListen });
  if (config.roles.includes('edge') && config.edgeHttpsListen !== 'off')
    wanted.push({ key: 'edgeHttpsListen', who: 'the edge', address: config.edgeHttpsListen });
  for (const key of config.roles.includes('live') ? RTMP_KEYS : []) {
    const address = config[key];
    if (address !== 'off') wanted.push({ key, who: 'live', address });
  }
  wanted.push({ key: 'metricsListen', who: 'the metrics', address: config.metricsListen });
  const claims = await claimAddresses(wanted);
  if (claims.kind === 'claimed')
    return { kind: 'settled', config: { ...config, ...Object.fromEntries(claims.addresses) } };
  const problems = claims.problems.map(({ key, problem }) => `${problem} (setting ${settingName(key)})`);
  return { kind: 'refused', problems };
}

function refused(problem: string): Refused {
  return { kind: 'refused', problems: [problem] };
}
