/** The service as an operator starts it, on ports that were free a moment ago, with the time it took to be ready. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../test/support/free-port.ts';

export interface StartedService extends AsyncDisposable {
  readonly edgePort: number;
  readonly controlUrl: string;
  readonly metricsUrl: string;
  /** Time from the start of the command to its line `causeway is ready`. */
  readonly readyMs: number;
  /** What each of its processes has in memory, in MiB, by part: `control 80, edge-feed 70, …`. */
  memory(): string;
  /** CPU time that a part has taken since it was started: all its threads, in their own code and in the system's. */
  cpuMs(part: string): number;
  /** The same of all its processes together. */
  wholeCpuMs(): number;
  /** What a part has in memory. */
  memoryMib(part: string): number;
  /** Kills all its processes at once, as the system does when memory runs out. */
  kill(): Promise<void>;
}

const OWN_ROOT = join(import.meta.dirname, '..', '..');

/** `root`: folder of the checkout that is started; this one when absent. */
export async function startService(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
  root = OWN_ROOT,
): Promise<StartedService> {
  const edgePort = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(root, 'bin', 'causeway.js'), 'serve'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      CAUSEWAY_DATA_DIR: dataDir,
      CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0',
      CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
      CAUSEWAY_EDGE_HTTP_LISTEN: `127.0.0.1:${edgePort}`,
      CAUSEWAY_EDGE_HTTPS_LISTEN: 'off',
      CAUSEWAY_RTMP_LISTEN: 'off',
      CAUSEWAY_DNS_LISTEN: '127.0.0.1:0',
      ...settings,
    },
  });
  let controlUrl = '';
  let metricsUrl = '';
  for await (const line of createInterface(child.stdout)) {
    controlUrl = /^control +(\S+)/.exec(line)?.[1] ?? controlUrl;
    metricsUrl = /^metrics +(\S+)/.exec(line)?.[1] ?? metricsUrl;
    if (line === 'causeway is ready') break;
  }
  const readyMs = performance.now() - startedAt;
  return {
    edgePort,
    controlUrl,
    metricsUrl,
    readyMs,
    memory: () => memoryOf(child.pid ?? 0),
    cpuMs: (part) => cpuMsOf(pidOf(child.pid ?? 0, part)),
    wholeCpuMs: () =>
      [String(child.pid), ...childrenOf(child.pid ?? 0)].map(cpuMsOf).reduce((sum, cpuMs) => sum + cpuMs, 0),
    memoryMib: (part) => residentMibOf(pidOf(child.pid ?? 0, part)),
    async kill() {
      child.kill('SIGSTOP'); // it would start its parts again
      for (const pid of childrenOf(child.pid ?? 0)) process.kill(Number(pid), 'SIGKILL');
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function memoryOf(supervisor: number): string {
  const parts = partsOf(supervisor).map(({ part, pid }) => `${part} ${Math.round(residentMibOf(pid))}`);
  return parts.sort().join(', ');
}

export function residentMibOf(pid: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(pid, 'status'))?.[1]) / 1024;
}

/** What the system counts in, whatever its kernel. */
const TICK_MS = 10;

function pidOf(supervisor: number, part: string): string {
  return partsOf(supervisor).find((running) => running.part === part)?.pid ?? '';
}

/** All threads of a process, in their own code and in the system's. */
export function cpuMsOf(pid: string): number {
  // Behind the name in brackets: the 14th and 15th field of all. proc(5)
  const fields = read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function partsOf(supervisor: number): { readonly part: string; readonly pid: string }[] {
  return childrenOf(supervisor).map((pid) => ({
    part: /\0part\0([^\0]+)/.exec(read(pid, 'cmdline'))?.[1] ?? '',
    pid,
  }));
}

export function childrenOf(parent: number): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === parent);
}

function parentOf(pid: string): number {
  return Number(/\) \S (\d+)/.exec(read(pid, 'stat'))?.[1]);
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
