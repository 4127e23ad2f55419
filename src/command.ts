/** What a person started: a command of `cli/`, given the settings, the service and the installation it may act on. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliContext, CliError, type GivenSettings } from '#cli/command/context.ts';
import type { InstallOrder } from '#cli/command/installation.ts';
import { withoutControls } from '#cli/command/output.ts';
import { runCommand } from '#cli/program.ts';
import {
  type Config,
  type Loaded,
  loadConfig,
  readSettingsFile,
  takeEnvironment,
  takeListenVariables,
  takeNotifySocket,
} from '#config';
import { systemClock } from '#lib/clock.ts';
import { databasePath, openDataDirectory } from '#lib/data-directory.ts';
import { hideSecrets } from '#lib/logger.ts';
import { type Environment, type Setting, type SettingProblem, settingName } from '#lib/settings.ts';
import type { IdentityView } from '#model/fleet.ts';
import { findControl } from '#roles/control/control-file.ts';
import type { BackupTrial } from '#roles/database/backup.ts';
import { setSelfDrain } from '#roles/edge/self-drain.ts';
import { firstTokenPath } from '#roles/process/announce.ts';
import { dnsSocketPath, findWorkers, supervisorSocketPath } from '#roles/sockets/worker-sockets.ts';
import type { Reloaded } from '#roles/supervisor/restarts.ts';
import { SETTINGS } from './settings.ts';

/** The folder of the program. */
const PROGRAM_ROOT = join(import.meta.dirname, '..');

/** Where a command runs. */
export interface Invocation {
  /** The program that the service starts its parts with. */
  readonly entry: string;
  readonly env: Environment;
  /** Where `causeway.toml` is looked for. */
  readonly cwd: string;
  /** Writes to standard output as it stands. */
  readonly write: (text: string) => void;
  /** Writes a line to standard error, without its secrets. */
  readonly complain: (line: string) => void;
}

/** `entry`: the program that the service starts its parts with. Sets the process's exit code. */
export async function runCommandLine(entry: string): Promise<void> {
  // What is said to people may find a full disk or nobody there; that ends neither a command nor the service.
  process.stdout.on('error', noteLostAnswer);
  process.stderr.on('error', () => {});
  const write = (text: string) => void process.stdout.write(text);
  const invocation = { entry, env: takeEnvironment(), cwd: process.cwd(), write, complain };
  process.exitCode = await execute(process.argv.slice(2), invocation);
}

/** Runs one command and returns its exit code. `serve`, and a database that is read or written as `-`, use the process itself. */
export async function execute(args: readonly string[], invocation: Invocation): Promise<number> {
  const complain = (line: string) => invocation.complain(hideSecrets(line));
  return await runCommand(createContext(invocation), args, complain);
}

function createContext({ entry, env, cwd, write }: Invocation): CliContext {
  const load = (given: GivenSettings) => loadOrExplain(given, env, cwd);
  return {
    version: readVersion(),
    settingFlags: Object.entries<Setting<unknown>>(SETTINGS)
      .filter(([, { secret }]) => secret !== true)
      .map(([key, setting]) => ({ key, name: settingName(key), description: describeFlag(setting) })),
    loadSettings: (given) => {
      const { config } = load(given);
      return { ...config, firstTokenFile: firstTokenPath(config.dataDir) };
    },
    showSettings: (given) => load(given).sources,
    install,
    examine: (given) => examineMachine(loadSettings(given, env, cwd)),
    serve: (given) => serveUntilStopped(load(given), () => reload(given, env, cwd), entry),
    findControl,
    findWorkers,
    supervisorSocket: supervisorSocketPath,
    dnsSocket: dnsSocketPath,
    openOffline: (given) => openOffline(load(given).config),
    exportDatabase: (given, file, withSecrets) => exportDatabase(load(given).config, file, withSecrets),
    importDatabase: (given, file) => importDatabase(load(given).config, file),
    backUpDatabase: (given, isVerified) => backUpDatabase(load(given).config, isVerified),
    verifyDatabase: (given, file, scratch) =>
      verifyDatabase(load(given).config, { file, scratch, needsRing: given.flags['keyring'] !== undefined }),
    setSelfDrain: (given, isDraining) => {
      const { dataDir } = load(given).config;
      if (!setSelfDrain(dataDir, isDraining))
        throw new CliError(`no edge has run from ${dataDir}; specify another directory with --data-dir`);
    },
    enrolEdge: (given, order) => enrolEdge(load(given).config, order),
    readEdgeIdentity: (given) => readEdgeIdentity(load(given).config),
    write,
    print: (line) => write(`${withoutControls(line)}\n`),
  };
}

/**
 * The lock is tried first: where a service runs, the interface and the database need not be loaded. Only the service makes an
 * installation, so that a name that was mistyped leaves nothing behind.
 */
async function openOffline(config: Config): ReturnType<CliContext['openOffline']> {
  const { dataDir } = config;
  const directory = openDataDirectory(dataDir, { make: false });
  if (directory.kind === 'inUse') return directory;
  if (directory.kind === 'unusable') throw new CliError(`${directory.problem}; specify another with --data-dir`);
  if (directory.kind === 'absent' || isDatabaseMissing(config)) throw noInstallation(dataDir);
  const { openOfflineControl } = await import('#roles/control/offline.ts');
  return inWords(async () => ({ kind: 'control', control: await openOfflineControl(config, directory.lock) }));
}

/** The database itself is read, whether a service runs or not. */
async function exportDatabase(config: Config, file: string, withSecrets: boolean) {
  if (isDatabaseMissing(config)) throw noInstallation(config.dataDir);
  const { exportToFile } = await import('#roles/database/database-file.ts');
  return inWords(() => exportToFile(config, file, withSecrets));
}

async function importDatabase(config: Config, file: string) {
  const { importFromFile, openFile } = await import('#roles/database/database-file.ts');
  using source = await inWords(() => openFile(file));
  const directory = openDataDirectory(config.dataDir, { make: true });
  if (directory.kind === 'inUse')
    throw new CliError(
      `a service is running from ${config.dataDir}; stop it first, or specify another directory with --data-dir`,
    );
  if (directory.kind !== 'directory')
    throw new CliError(
      directory.kind === 'unusable' ? directory.problem : `no installation found in ${config.dataDir}`,
    );
  using _lock = directory.lock;
  return await inWords(() => importFromFile(config, source));
}

async function backUpDatabase(config: Config, isVerified: boolean) {
  if (isDatabaseMissing(config)) throw noInstallation(config.dataDir);
  const { backUp } = await import('#roles/database/backup.ts');
  return inWords(() => backUp(config, systemClock(), isVerified));
}

async function verifyDatabase(config: Config, trial: BackupTrial) {
  const { verifyFile } = await import('#roles/database/backup.ts');
  return inWords(() => verifyFile(config, trial));
}

async function enrolEdge(
  { dataDir, controls, enrolToken }: Config,
  { token = enrolToken, edge }: { readonly token: string | undefined; readonly edge: string | undefined },
) {
  if (controls.length === 0) throw new CliError('name the fleet listener of a control: --control https://host:port');
  if (token === undefined) throw new CliError('a token is needed: --token-file or CAUSEWAY_ENROL_TOKEN');
  const directory = openDataDirectory(dataDir, { make: true });
  if (directory.kind === 'inUse') throw new CliError(`a service is running from ${dataDir}; stop it first`);
  if (directory.kind !== 'directory')
    throw new CliError(directory.kind === 'unusable' ? directory.problem : `no installation found in ${dataDir}`);
  using _lock = directory.lock;
  const { enrolMachine } = await import('#fleet/obtain-identity.ts');
  const enrolment = { dataDir, controls, token, edge, build: readVersion(), now: systemClock() };
  const { describeIdentity } = await import('#fleet/describe-identity.ts');
  const present = await inWords(async () => describeIdentity(dataDir));
  return await inWords(() =>
    enrolMachine(enrolment).catch((cause: Error) => {
      const hint = present && `this machine is edge ${present.edge} already; see "causeway edge identity"`;
      throw hint === undefined ? cause : new Error(`${cause.message}\n${hint}`, { cause });
    }),
  );
}

async function readEdgeIdentity({ dataDir, fleetFiles, controls }: Config): Promise<IdentityView> {
  const { describeIdentity, describeOwnIdentity } = await import('#fleet/describe-identity.ts');
  const found = await inWords(async () =>
    fleetFiles === undefined ? describeIdentity(dataDir) : describeOwnIdentity(fleetFiles, controls),
  );
  if (found === undefined)
    throw new CliError(
      `there is no identity of an edge in ${dataDir}; enrol this machine with "causeway edge enrol", or specify another directory with --data-dir`,
    );
  return found;
}

function isDatabaseMissing({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl === undefined && !existsSync(databasePath(dataDir));
}

function noInstallation(dataDir: string): CliError {
  return new CliError(
    `no installation found in ${dataDir}; start it with "causeway serve", or specify another with --data-dir`,
  );
}

async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new CliError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function loadSettings({ flags, file: named }: GivenSettings, env: Environment, cwd: string): Loaded {
  const file = readSettingsFile(named, cwd);
  if (file !== undefined && 'problem' in file) return { kind: 'problems', problems: [file] };
  return loadConfig({ flags, env, file, cwd });
}

function loadOrExplain(given: GivenSettings, env: Environment, cwd: string) {
  const loaded = loadSettings(given, env, cwd);
  if (loaded.kind === 'problems') throw explain(loaded.problems);
  return loaded;
}

async function examineMachine(settings: Loaded) {
  const { examine } = await import('#roles/doctor/examine.ts');
  return await examine({ settings, root: PROGRAM_ROOT, now: systemClock() });
}

async function install(order: InstallOrder) {
  const { install } = await import('#roles/install/install.ts');
  return await inWords(() => install({ ...order, source: PROGRAM_ROOT, version: readVersion() }));
}

/** Reads the settings again for a running service. */
function reload(given: GivenSettings, env: Environment, cwd: string): Reloaded {
  try {
    return { kind: 'config', config: loadOrExplain(given, env, cwd).config };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { kind: 'problems', problems: error.message.split('\n') };
  }
}

function describeFlag({ description, unit, default: standard }: Setting<unknown>): string {
  const value = standard === '' ? 'none' : standard;
  const facts = [unit, value !== undefined && `default: ${value}`].filter((fact) => typeof fact === 'string');
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`;
}

function explain(problems: readonly SettingProblem[]): CliError {
  return new CliError(problems.map(({ setting, source, problem }) => `${setting} (${source}): ${problem}`).join('\n'));
}

async function serveUntilStopped(
  { config, sources }: Extract<Loaded, { readonly kind: 'config' }>,
  load: () => Reloaded,
  entry: string,
): Promise<number> {
  const { serve } = await import('#roles/supervisor/supervisor.ts');
  const { listenForStop } = await import('#roles/supervisor/stop-request.ts');
  const served = await serve({
    config,
    settings: sources,
    reload: load,
    notifySocket: takeNotifySocket(),
    listenVariables: takeListenVariables(process.connected ? [process.pid, process.ppid] : [process.pid]),
    entry,
    build: readVersion(),
    print: (line) => process.stdout.write(`${line}\n`),
    isTerminal: process.stdout.isTTY === true,
    stopRequest: listenForStop(),
  });
  if (served.kind === 'refused') for (const problem of served.problems) complain(`causeway: ${problem}`);
  // The handlers of signals and the channel to the launcher would keep the process alive.
  process.exit(served.kind === 'stopped' ? 0 : 1);
}

/**
 * A service goes on. The reader of an answer that has seen enough (`| head`) is no failure, unless it is to have the whole
 * database; any other loss is one.
 */
function noteLostAnswer(error: NodeJS.ErrnoException): void {
  const command = process.argv.slice(2).find((word) => ['serve', 'db'].includes(word)); // settings may precede it
  if (command === 'serve') return;
  if (error.code === 'EPIPE' && command !== 'db') process.exit(0);
  complain(`causeway: cannot write the output: ${error.code}`);
  process.exit(1);
}

function complain(line: string): void {
  process.stderr.write(`${withoutControls(hideSecrets(line))}\n`);
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(PROGRAM_ROOT, 'package.json'), 'utf8'));
  const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return hasVersion ? String(manifest.version) : 'unknown';
}
