/** Sockets on which the supervisor, the edge workers and the name server of a data directory answer commands. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const SUFFIX = '.explain.sock';

export function supervisorSocketPath(dataDir: string): string {
  return join(dataDir, 'run', 'supervisor.sock');
}

export function dnsSocketPath(dataDir: string): string {
  return join(dataDir, 'run', 'dns.sock');
}

export function workerSocketPath(dataDir: string, worker: string): string {
  return join(dataDir, 'run', `${worker}${SUFFIX}`);
}

/** Sockets of workers in the order of their names, those of killed workers included. */
export function findWorkers(dataDir: string): readonly string[] {
  const folder = join(dataDir, 'run');
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
    return names.sort().map((name) => join(folder, name));
  } catch {
    return []; // no service has run there, or the directory is not readable
  }
}
