/** The whole service as real processes, on free ports and with a data directory of its own, stopped when the test ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { placeSqlite } from '../db/templates.ts';
import { eventually } from '../eventually.ts';
import { temporaryFolder } from '../temporary.ts';

export const COMMAND = join(import.meta.dirname, '..', '..', '..', 'bin', 'causeway.js');

type Settings = Readonly<Record<string, string>>;

export interface ServiceOptions {
  /** Environment variables. */
  readonly settings?: Settings;
  readonly args?: readonly string[];
  /** A file descriptor for its standard error; absent: a pipe that is read. */
  readonly stderr?: number;
  /** Absent: a new one, removed after the test. */
  readonly dataDir?: string;
  /** The Node that runs it; absent: this one. */
  readonly node?: string;
  /** Words before the command, for another machine; see `fleet/machines.ts`. */
  readonly inside?: readonly string[];
  /** Path of the command, of another checkout; absent: of this one. */
  readonly command?: string;
}

export interface RunningService {
  /** Empty when the part does not run. */
  readonly controlUrl: string;
  readonly edgeUrl: string;
  readonly edgeHttpsUrl: string;
  readonly metricsUrl: string;
  readonly rtmpUrl: string;
  /** The first access token; empty when there is none. */
  readonly token: string;
  readonly dataDir: string;
  readonly process: SpawnedCommand;
  /** Process ids by part: `control`, `edge-feed`, `edge-worker-1`, … */
  pids(): Readonly<Record<string, number>>;
  /** SIGTERM; gives the exit code. */
  stop(): Promise<number | null>;
}

export interface SpawnedCommand {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The exit code, `null` when a signal ended it. */
  readonly exit: Promise<number | null>;
}

const SETTINGS = {
  CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0',
  CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
  CAUSEWAY_EDGE_HTTP_LISTEN: '127.0.0.1:0',
  CAUSEWAY_EDGE_HTTPS_LISTEN: '127.0.0.1:0',
  CAUSEWAY_RTMP_LISTEN: '127.0.0.1:0',
  // One worker and no live process cost a start half of what the whole service does.
  CAUSEWAY_EDGE_WORKERS: '1',
  CAUSEWAY_ROLES: 'control,edge',
};

/** Settings that add the live process to the parts that `startService` starts. */
export const WITH_LIVE: Settings = { CAUSEWAY_ROLES: 'control,edge,live' };

/** Limit on a machine that many tests share. */
const START_LIMIT_MS = 60_000;

/** Resolves when every part is ready; throws with what it said when it ends before. */
export async function startService(
  t: Pick<TestContext, 'after'>,
  options: ServiceOptions = {},
): Promise<RunningService> {
  const placed = { ...options, dataDir: options.dataDir ?? join(temporaryFolder(t), 'data') };
  for (let tries = 1; ; tries++) {
    try {
      return await startOnce(t, placed);
    } catch (error) {
      // Between finding a free port and listening on it another test may have taken it.
      const isTaken = /(listen|bind) EADDRINUSE|the address is already in use/.test(String(error));
      if (!isTaken || tries === MAX_STARTS) throw error;
    }
  }
}

const MAX_STARTS = 3;

async function startOnce(
  t: Pick<TestContext, 'after'>,
  options: ServiceOptions & { readonly dataDir: string },
): Promise<RunningService> {
  const { dataDir } = options;
  // Another release may not know these settings.
  const own: Settings =
    options.command === undefined ? { CAUSEWAY_CONSOLE: 'off', CAUSEWAY_DNS_LISTEN: '127.0.0.1:0' } : {};
  const settings: Settings = { ...SETTINGS, ...own, CAUSEWAY_DATA_DIR: dataDir, ...options.settings };
  const { args = [], stderr = 'pipe', node = process.execPath, inside = [], command: path = COMMAND } = options;
  if (path === COMMAND && settings['CAUSEWAY_ROLES']?.includes('control')) placeSqlite(dataDir);
  const command = spawnCommand(t, ['serve', ...args], { settings, stderr, node, inside, command: path });
  let hasEnded = false;
  void command.exit.then(() => {
    hasEnded = true;
  });
  await eventually(
    'the service is ready',
    () => hasEnded || command.stdout().includes('causeway is ready'),
    START_LIMIT_MS,
  );
  if (hasEnded) throw new Error(`it ended: ${command.stderr()}`);
  const address = (part: string) => new RegExp(`^${part} +(\\S+)`, 'm').exec(command.stdout())?.[1] ?? '';
  return {
    controlUrl: address('control'),
    edgeUrl: address('edge'),
    edgeHttpsUrl: /^edge +(https:\S+)/m.exec(command.stdout())?.[1] ?? '',
    metricsUrl: address('metrics'),
    rtmpUrl: address('live'),
    token: settings['CAUSEWAY_BOOTSTRAP_TOKEN'] ?? readIfThere(join(dataDir, 'first-token')).trim(),
    dataDir,
    process: command,
    pids: () => childrenOf(command.child.pid ?? 0),
    stop: async () => {
      command.child.kill('SIGTERM');
      return command.exit;
    },
  };
}

/** Environment of a command without settings: programs are found, and compiled modules of `test/run.ts` are shared. */
export function surroundings(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent' };
}

interface SpawnOptions {
  readonly settings?: Settings;
  readonly stdout?: number | 'pipe';
  readonly stderr?: number | 'pipe';
  readonly node?: string;
  readonly cwd?: string;
  readonly inside?: readonly string[];
  readonly command?: string;
}

/** Runs the command with no settings but the given ones; killed when the test ends. */
export function spawnCommand(
  t: Pick<TestContext, 'after'>,
  args: readonly string[],
  options: SpawnOptions = {},
): SpawnedCommand {
  const { settings = {}, node = process.execPath, cwd, stdout = 'pipe', stderr = 'pipe', inside = [] } = options;
  const [program = node, ...words] = [...inside, node, options.command ?? COMMAND, ...args];
  const child = spawn(program, words, {
    cwd: cwd ?? temporaryFolder(t),
    env: { ...surroundings(), ...settings },
    stdio: ['ignore', stdout, stderr],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const exit = once(child, 'close').then(() => child.exitCode);
  t.after(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, exit };
}

interface CommandOutput {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process, with no settings but the given ones. Not `serve`, which would end the process. */
export async function runCommand(
  t: Pick<TestContext, 'after'>,
  args: readonly string[],
  { settings = {}, cwd }: Pick<SpawnOptions, 'settings' | 'cwd'> = {},
): Promise<CommandOutput> {
  const { execute } = await import('../../../src/command.ts'); // most who start a service run no command
  const output = { stdout: '', stderr: '' };
  const code = await execute(args, {
    entry: COMMAND,
    env: settings,
    cwd: cwd ?? temporaryFolder(t),
    write: (text) => {
      output.stdout += text;
    },
    complain: (line) => {
      output.stderr += `${line}\n`;
    },
  });
  return { code, ...output };
}

/** Runs a command as a process of its own to its end: `serve`, what needs another Node or standard streams. */
export async function runProcess(
  t: Pick<TestContext, 'after'>,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<CommandOutput> {
  const command = spawnCommand(t, args, options);
  const code = await command.exit;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

/** Whether the process still runs; one that is dead and not yet collected does not. */
export function isAlive(pid: number): boolean {
  return !['', 'Z', 'X'].includes(/^\d+ \(.*\) (\S)/.exec(readIfThere(`/proc/${pid}/stat`))?.[1] ?? '');
}

function childrenOf(parent: number): Readonly<Record<string, number>> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = pids.filter((pid) => readIfThere(`/proc/${pid}/stat`).match(/\) \S (\d+)/)?.[1] === String(parent));
  return Object.fromEntries(
    children.flatMap((pid) => {
      const [, name] = /\0part\0([^\0]+)/.exec(readIfThere(`/proc/${pid}/cmdline`)) ?? [];
      return name === undefined ? [] : [[name, Number(pid)]];
    }),
  );
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone, or never made
  }
}
