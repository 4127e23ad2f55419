/**
 * The process that a person or an init system starts. It owns the data directory, settles the addresses, keeps the parts
 * running and brings them down in good order. It serves nothing itself but the metrics.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '#config';
import { openDataDirectory } from '#lib/data-directory.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import { createLogger, type Logger } from '#lib/logger.ts';
import { settingName } from '#lib/settings.ts';
import { announce, urlOf } from './announce.ts';
import { claimAddress } from './claim-address.ts';
import { removeControlFile, writeControlFile } from './control-file.ts';
import { planParts } from './plan.ts';
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

const FOLDERS = ['run', 'edge', 'logs'];

/** Runs the service until it is asked to stop. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { dataDir, logLevel } = options.config;
  const log = createLogger({ level: logLevel, name: 'supervisor' });
  const directory = openDataDirectory(dataDir);
  if (directory.kind === 'unusable') return refused(`the data directory cannot be used: ${directory.problem}`);
  if (directory.kind === 'inUse')
    return refused(
      `the data directory ${dataDir} is in use by another causeway; stop that, or set another with --data-dir`,
    );
  using _lock = directory.lock;
  if (directory.wasOpen) log.warn({ dataDir }, 'the data directory was open to other users; it is closed to them now');
  for (const folder of FOLDERS) mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 });
  removeControlFile(dataDir);

  const claimed = await claimAddresses(options.config);
  if (claimed.kind === 'refused') return claimed;
  // Awaited, or the lock would be let go at once.
  return await run({ ...options, config: claimed.config }, log);
}

async function run(options: ServeOptions, log: Logger): Promise<Served> {
  const { config, entry, build, stopRequest } = options;
  const localSecret = randomBytes(32).toString('base64url');
  await using service = await Service.start({ parts: planParts(config, { build, localSecret }), entry, config, log });
  const beginning = await Promise.race([service.started, stopRequest.requested]);
  if (typeof beginning !== 'string') {
    if (beginning.kind === 'failed') return refused(beginning.problem);
    if (config.roles.includes('control')) tellCommands(config, localSecret);
    announce({ ...options, firstToken: beginning.firstToken });
  }
  log.info({ reason: await stopRequest.requested }, 'stopping');
  removeControlFile(config.dataDir);
  const stopped = service.stop().then((): Served => ({ kind: 'stopped' }));
  return await Promise.race([stopped, stopRequest.repeated.then((): Served => ({ kind: 'cut' }))]);
}

function tellCommands({ dataDir, controlListen, controlTls }: Config, localSecret: string): void {
  const url = urlOf(controlListen, controlTls !== undefined);
  const certificate = controlTls?.cert;
  writeControlFile(dataDir, { pid: process.pid, url, localSecret, ...(certificate !== undefined && { certificate }) });
}

/** Every address with the port that it will have, or everything that stands in the way. */
async function claimAddresses(
  config: Config,
): Promise<{ readonly kind: 'claimed'; readonly config: Config } | Refused> {
  const wanted: [keyof Config & `${string}Listen`, string, ListenAddress][] = [
    ['metricsListen', 'the metrics', config.metricsListen],
  ];
  if (config.roles.includes('control')) wanted.push(['controlListen', 'control', config.controlListen]);
  if (config.roles.includes('edge')) wanted.push(['edgeHttpListen', 'the edge', config.edgeHttpListen]);
  const problems: string[] = [];
  const settled: Partial<Record<string, ListenAddress>> = {};
  for (const [key, who, address] of wanted) {
    const claim = await claimAddress(address);
    if (claim.kind === 'address') settled[key] = claim.address;
    else problems.push(`${who} ${claim.problem} (setting ${settingName(key)})`);
  }
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'claimed', config: { ...config, ...settled } };
}

function refused(problem: string): Refused {
  return { kind: 'refused', problems: [problem] };
}
