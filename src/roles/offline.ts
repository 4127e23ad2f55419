/** Control for as long as one command takes, when no service runs: the same interface, on a port of loopback. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { startApi } from '#api/server.ts';
import type { Config } from '#config';
import { systemClock } from '#lib/clock.ts';
import { openDataDirectory } from '#lib/data-directory.ts';
import { createLogger } from '#lib/logger.ts';
import { apiOptions, openConfigured } from './control.ts';

export type OfflineControl =
  | {
      readonly kind: 'control';
      readonly control: { readonly url: string; readonly localSecret: string } & AsyncDisposable;
    }
  | { readonly kind: 'inUse' }
  | { readonly kind: 'unusable'; readonly problem: string };

const LOOPBACK = { host: '127.0.0.1', port: 0 };

export async function openOfflineControl(config: Config): Promise<OfflineControl> {
  const directory = openDataDirectory(config.dataDir);
  if (directory.kind !== 'directory') return directory;
  await using stack = new AsyncDisposableStack();
  stack.use(directory.lock);
  const log = createLogger({ level: 'error', name: 'command' });
  const db = stack.use(await openConfigured(config, log));
  const localSecret = randomBytes(32).toString('base64url');
  const options = { ...apiOptions(config), listen: LOOPBACK, tls: undefined };
  const registry = new Registry();
  const api = stack.use(await startApi({ ...options, db, localSecret, clock: systemClock, log, registry }));
  const running = stack.move();
  return {
    kind: 'control',
    control: {
      url: `http://${LOOPBACK.host}:${api.port}`,
      localSecret,
      [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
    },
  };
}
