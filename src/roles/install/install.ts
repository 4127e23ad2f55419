/** Installs this release as a service: user, folders, settings file, units, command. Done twice, it changes nothing. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Installed, InstalledPiece, InstallOrder } from '#cli/command/installation.ts';
import { environmentWith } from '#config';
import { takeLock } from '#lib/data-directory.ts';
import { type FileOwner, installFile, installLink, installPrivateFolder, offerFile } from './files.ts';
import {
  BACKUP_DIRECTORY,
  CURRENT,
  DATA_DIRECTORY,
  MADE_BY,
  OF_MACHINE,
  OF_PACKAGE,
  type Places,
  PROGRAMS,
  SERVICE_USER,
  SETTINGS_FILE,
} from './places.ts';
import { installRelease, NODE_PACKAGE } from './release.ts';
import { commandLine, createUnits } from './units.ts';

interface InstallOptions extends InstallOrder {
  /** The folder of the program that is installed. */
  readonly source: string;
  readonly version: string;
}

const run = promisify(execFile);
/** Where programs of the system are: root's own PATH may lead elsewhere. */
const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Throws, with a message for people, if something cannot be made. */
export async function install(options: InstallOptions): Promise<Installed> {
  const umask = process.umask(0o022); // others read what is made without a mode
  try {
    return await (options.root === undefined ? installHere(options) : installInto(resolve(options.root), options));
  } finally {
    process.umask(umask);
  }
}

/** The tree of a package: what its installation makes has to be made by the package's scripts. */
function installInto(root: string, options: InstallOptions): Installed {
  const pieces = [
    ...installPrograms(root, options, OF_PACKAGE),
    offerFile(join(root, SETTINGS_FILE), SETTINGS_TEXT, 0o640),
  ];
  return { pieces, next: [] };
}

async function installHere(options: InstallOptions): Promise<Installed> {
  if (process.getuid?.() !== 0)
    throw new Error('root is needed to make a user and units; --root installs into a folder');
  const user = await installUser();
  const owner = await findUser();
  if (owner === undefined) throw new Error(`the user ${SERVICE_USER} was made, and is not found`);
  mkdirSync(PROGRAMS, { recursive: true, mode: 0o755 });
  using lock = takeLock(join(PROGRAMS, '.install.lock'));
  if (lock === undefined) throw new Error('another installation is running');
  const pieces = [
    user,
    ...installPrograms('/', options, OF_MACHINE),
    offerFile(SETTINGS_FILE, SETTINGS_TEXT, 0o640, owner),
    installPrivateFolder(DATA_DIRECTORY, owner),
    installPrivateFolder(BACKUP_DIRECTORY, owner),
  ];
  const isManaged = existsSync('/run/systemd/system');
  if (isManaged && pieces.some(({ state }) => state !== 'kept')) await runSystem('systemctl', ['daemon-reload']);
  return { pieces, next: nextSteps(options, isManaged) };
}

function nextSteps({ hasSocket }: InstallOptions, isManaged: boolean): readonly string[] {
  const units = [...(hasSocket ? ['causeway.socket'] : []), 'causeway.service', 'causeway-backup.timer'];
  return [
    `next: look through ${SETTINGS_FILE}, run "causeway doctor", then`,
    `  systemctl enable --now ${units.join(' ')}`,
    'or, if an earlier release runs: systemctl restart causeway.service',
    ...(isManaged ? [] : ['(systemd does not run here)']),
  ];
}

function installPrograms(root: string, options: InstallOptions, { units, command }: Places): readonly InstalledPiece[] {
  const { source, version, hasSocket } = options;
  mkdirSync(join(root, PROGRAMS), { recursive: true, mode: 0o755 });
  buildConsole(join(source, 'console'));
  const release = installRelease(source, join(root, PROGRAMS), version);
  const bundled = `${CURRENT}/node_modules/${NODE_PACKAGE}/bin/node`;
  const hasBundled = existsSync(join(source, 'node_modules', NODE_PACKAGE, 'bin/node'));
  const node = hasBundled ? bundled : process.execPath;
  const files = Object.entries(createUnits({ node, hasSocket }));
  return [
    { state: release.state, what: release.what },
    installLink(join(root, CURRENT), join(root, PROGRAMS, release.name)),
    ...files.map(([name, text]) => installFile(join(root, units, name), text)),
    installFile(join(root, command), commandScript(node), 0o755),
  ];
}

/**
 * Builds the console of a checkout if its sources have changed, as the owner of the checkout, who has to be able to build it again. The
 * builder says itself what went wrong: the service works without its console.
 */
function buildConsole(folder: string): void {
  const builder = join(folder, 'build.js');
  if (!existsSync(builder)) return; // a release, whose console is built
  const { uid, gid } = statSync(folder);
  const owner = process.getuid?.() === 0 ? { uid, gid } : {};
  spawnSync(process.execPath, [builder], { stdio: ['ignore', 'inherit', 'inherit'], ...owner });
}

/** Files that a command makes as root would be closed to the service. */
function commandScript(node: string): string {
  return `#!/bin/sh
${MADE_BY} Runs commands as the user of the service, so that it can
# read the files that they make: files that they are given have to be readable by ${SERVICE_USER}.
set -eu
PATH=${SYSTEM_PATH}
set -- ${commandLine(node)} --config ${SETTINGS_FILE} "$@"
case "\${6:-}" in
  install | doctor) exec "$@" ;;
esac
if [ "$(id -u)" = 0 ]; then exec setpriv --reuid ${SERVICE_USER} --regid ${SERVICE_USER} --init-groups -- "$@"; fi
exec "$@"
`;
}

const SETTINGS_TEXT = `# Settings of Causeway. docs/operations.md lists them all; "causeway config" shows those in force.
data-dir = "${DATA_DIRECTORY}"
backup-directory = "${BACKUP_DIRECTORY}"

# Ports of viewers. With causeway.socket they must be those of its ListenStream= lines.
edge-http-listen = "[::]:80"
edge-https-listen = "[::]:443"

# Days begin at midnight of this zone, also in statistics and names of log files.
# time-zone = "Asia/Shanghai"
# database-url = "postgres://causeway:password@127.0.0.1:5432/causeway"
`;

/** `undefined` if there is none. getent(1) */
async function findUser(): Promise<FileOwner | undefined> {
  const [, , uid, gid] = (await lookUp('passwd'))?.split(':') ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** Returns the line of the service's user or group, wherever the machine has its users; `undefined` if there is none. */
async function lookUp(database: 'passwd' | 'group'): Promise<string | undefined> {
  try {
    return (await runSystem('getent', [database, SERVICE_USER])).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return undefined;
    throw error;
  }
}

/** What getent(1) ends with if there is no such line. */
const NOT_FOUND = 2;

/** Programs of the system: a shell that "su" has started does not look in /usr/sbin. */
function runSystem(program: string, args: readonly string[]) {
  return run(program, args, { env: environmentWith({ PATH: SYSTEM_PATH }) });
}

async function installUser(): Promise<InstalledPiece> {
  const what = `user and group ${SERVICE_USER}`;
  if ((await findUser()) !== undefined) return { state: 'kept', what };
  const home = ['--home-dir', DATA_DIRECTORY, '--no-create-home', '--shell', '/usr/sbin/nologin'];
  const group = (await lookUp('group')) === undefined ? ['--user-group'] : ['--gid', SERVICE_USER];
  await runSystem('useradd', ['--system', ...group, ...home, SERVICE_USER]);
  return { state: 'made', what };
}
