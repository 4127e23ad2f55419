/**
 * Receives notifications of publishes, and messages of other controls, by PostgreSQL's LISTEN, on a connection of its own
 * that is re-established when lost.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '#lib/logger.ts';
import { DatabaseHosts } from './hosts.ts';

export const PUBLISH_CHANNEL = 'causeway_publish';
/** Channel of messages between controls. */
export const MESSAGE_CHANNEL = 'causeway_message';

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5000;
/**
 * Interval at which the connection is tried: a server that failed without a word, and whose standby was promoted, sends
 * no notifications. Until then publishes are found by polling.
 */
const TRY_EVERY_MS = 10_000;

export interface PublishListenerOptions {
  /** URL, perhaps with several hosts, that bypasses a pooler in transaction mode, which does not support LISTEN. */
  readonly url: string;
  /** Also called after each (re)connection, since notifications may have been missed. */
  readonly wake: () => void;
  /** Called with each message of a control, this one's own included. */
  readonly take: (message: string) => void;
  readonly log: Logger;
  /** Interval of trying the connection, and limit of its queries, for tests. */
  readonly tryEveryMs?: number;
  readonly limitMs?: number;
}

export function listenForPublishes(options: PublishListenerOptions): AsyncDisposable {
  const { url, wake, log } = options;
  const stop = new AbortController();
  const hosts = new DatabaseHosts(url);
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };

  async function run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!stop.signal.aborted) {
      try {
        await listenOnce({ ...options, url: hosts.url }, stop.signal, () => {
          retryMs = FIRST_RETRY_MS;
          wake();
        });
      } catch (error) {
        if (stop.signal.aborted) return;
        hosts.pass(hosts.url); // a standby refuses LISTEN
        log.warn({ err: error, retryMs }, 'cannot listen for database notifications; polling meanwhile and retrying');
      }
      await delay(retryMs, undefined, { signal: stop.signal }).catch(() => undefined); // only ever rejects by `stop`
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    }
  }
}

/** Settles when the connection ends: resolves after `signal`, otherwise rejects. */
async function listenOnce(
  { url, take, tryEveryMs = TRY_EVERY_MS, limitMs = CONNECT_TIMEOUT_MS }: PublishListenerOptions,
  signal: AbortSignal,
  wake: () => void,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs, // notifications are not queries
    application_name: 'causeway listen',
  });
  const ended = Promise.withResolvers<void>();
  let trying: NodeJS.Timeout | undefined;
  const stop = () => ended.resolve();
  client.on('error', (error) => ended.reject(error));
  client.on('end', () => ended.reject(new Error('the connection ended')));
  client.on('notification', ({ channel, payload = '' }) => {
    if (channel === MESSAGE_CHANNEL) take(payload);
    else wake();
  });
  ended.promise.catch(() => undefined); // it may fail before anyone awaits it; the await below reports it
  signal.addEventListener('abort', stop, { once: true });
  try {
    await client.connect();
    await client.query(`listen ${PUBLISH_CHANNEL}; listen ${MESSAGE_CHANNEL}`);
    wake();
    if (signal.aborted) return;
    const tryLater = () => {
      trying = setTimeout(() => client.query('select 1').then(tryLater, ended.reject), tryEveryMs);
    };
    tryLater();
    await ended.promise;
  } finally {
    clearTimeout(trying);
    signal.removeEventListener('abort', stop);
    await client.end().catch(() => undefined); // it is gone already
  }
}
