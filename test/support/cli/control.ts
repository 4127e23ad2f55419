/**
 * Control in the process of the test, in a data directory where commands of this machine find it: what `startService` with the
 * role `control` starts, without its two processes, which cost ten times as much. docs/decisions/0543
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { loadConfig } from '#config';
import { FOLDERS, openDataDirectory } from '#lib/data-directory.ts';
import { createLogger } from '#lib/logger.ts';
import { startControl as startRole } from '#roles/control/control.ts';
import { writeControlFile } from '#roles/control/control-file.ts';
import { firstTokenPath } from '#roles/process/announce.ts';
import { placeSqlite } from '../db/templates.ts';
import { freePort } from '../free-port.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';

export interface LocalControl {
  readonly controlUrl: string;
  readonly dataDir: string;
  /** The first access token; empty if the database had accounts already. */
  readonly token: string;
  /** Stops control, calls `meanwhile`, and starts it again at the same address. */
  restart(meanwhile: () => void): Promise<void>;
}

/** Starts control with these settings. Signals, child processes and stopping are those of a service: their tests start one. */
export async function startControl(
  t: Cleanup,
  settings: Readonly<Record<string, string>> = {},
  dataDir = join(temporaryFolder(t), 'data'),
): Promise<LocalControl> {
  await using started = new AsyncDisposableStack();
  placeSqlite(dataDir);
  const directory = openDataDirectory(dataDir, { make: true });
  assert.ok(directory.kind === 'directory');
  started.use(directory.lock);
  for (const folder of FOLDERS) mkdirSync(join(dataDir, folder), { mode: 0o700, recursive: true });
  const listen = `127.0.0.1:${await freePort()}`;
  const env = { CAUSEWAY_DATA_DIR: dataDir, CAUSEWAY_CONTROL_LISTEN: listen, ...settings };
  const loaded = loadConfig({ flags: {}, env, cwd: dataDir });
  assert.ok(loaded.kind === 'config', JSON.stringify(loaded));
  const { config } = loaded;
  const localSecret = 'the-secret-of-this-machine-0123456789';
  const start = () =>
    startRole({
      ...{ name: 'control', slot: 'control', config, localSecret, ownAddresses: [], build: 'test' },
      ...{ rateSeed: '', isSuccessor: false, sockets: {}, logWriters: [] },
      log: createLogger({ level: 'silent', name: 'test' }),
      registry: new Registry(),
      send: () => undefined,
    });
  let control = await start();
  started.defer(() => control.stop(0));
  const controlUrl = `${config.controlTls === undefined ? 'http' : 'https'}://${listen}`;
  writeControlFile(dataDir, {
    ...{ pid: process.pid, url: controlUrl, localSecret },
    ...(config.controlTls !== undefined && { certificate: config.controlTls.cert }),
  });
  const tokenFile = firstTokenPath(dataDir);
  const ended = started.move();
  t.after(() => ended[Symbol.asyncDispose]());
  return {
    ...{ controlUrl, dataDir, token: existsSync(tokenFile) ? readFileSync(tokenFile, 'utf8').trim() : '' },
    async restart(meanwhile) {
      await control.stop(0);
      meanwhile();
      control = await start();
    },
  };
}
