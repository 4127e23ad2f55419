/** The service as an operator starts it, on ports that were free a moment ago, with the time it took to be ready. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface StartedService extends AsyncDisposable {
  readonly edgePort: number;
  /** From the start of the command to its line `causeway is ready`. */
  readonly readyMs: number;
}

const COMMAND = join(import.meta.dirname, '..', '..', 'bin', 'causeway.js');

export async function startService(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<StartedService> {
  const edgePort = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      CAUSEWAY_DATA_DIR: dataDir,
      CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0',
      CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
      CAUSEWAY_EDGE_HTTP_LISTEN: `127.0.0.1:${edgePort}`,
      ...settings,
    },
  });
  for await (const line of createInterface(child.stdout)) if (line === 'causeway is ready') break;
  const readyMs = performance.now() - startedAt;
  return {
    edgePort,
    readyMs,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
