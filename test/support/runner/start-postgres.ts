/** The server that a run of tests uses where nobody named one: a cluster of its own, gone when the run ends, however it ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findPostgres } from './needs.ts';

interface Server extends AsyncDisposable {
  readonly url: string;
}

/** `undefined`: no PostgreSQL is installed, or it did not start; it says why on standard error. */
export async function startPostgres(): Promise<Server | undefined> {
  if (findPostgres() === undefined) return undefined;
  const program = join(import.meta.dirname, 'postgres-cluster.ts');
  // In a process group of its own, so that Ctrl-C ends the tests before their database.
  const child = spawn(process.execPath, [program], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const url = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]: string[]) => line),
    exit.then(() => undefined),
  ]);
  if (url === undefined) return undefined;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await exit;
    },
  };
}
