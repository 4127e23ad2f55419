/** Control for the duration of one command while no service runs: the same interface, on a loopback port. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { startApi } from '#api/server.ts';
import type { Config } from '#config';
import { openKeyring } from '#db/rotation/sealed-secrets.ts';
import { steadyClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { apiOptions, openConfigured } from './control.ts';

export interface OfflineControl extends AsyncDisposable {
  readonly url: string;
  readonly localSecret: string;
}

const LOOPBACK = { host: '127.0.0.1', port: 0 };

/** `lock`: the lock of the data directory, released when the control is disposed of or cannot be opened. */
export async function openOfflineControl(config: Config, lock: Disposable): Promise<OfflineControl> {
  await using stack = new AsyncDisposableStack();
  stack.use(lock);
  const log = createLogger({ level: 'error', name: 'command' });
  const db = stack.use(await openConfigured(config, log));
  const localSecret = randomBytes(32).toString('base64url');
  const ring = await openKeyring(db.query, config.keyringFile);
  const options = { ...apiOptions(config, ring), listen: LOOPBACK, tls: undefined };
  const registry = new Registry();
  const api = stack.use(await startApi({ ...options, db, localSecret, clock: db.clock, steadyClock, log, registry }));
  const running = stack.move();
  return {
    url: `http://${LOOPBACK.host}:${api.port}`,
    localSecret,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
