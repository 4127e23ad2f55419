/**
 * Detects connections to PostgreSQL on which no answer can arrive, since the query was lost, as when a network device
 * in between has forgotten the connection. The server is asked over another connection: if it reports the connection as
 * idle while we wait, the query was lost. docs/decisions/0332
 */
import pg from 'pg';
import { steadyClock } from '#lib/clock.ts';
import type { DatabaseHosts } from './hosts.ts';

export class LostConnection extends Error {}

export interface LostConnectionOptions {
  readonly hosts: DatabaseHosts;
  /** Queries that wait for less than this are not checked. */
  readonly silentMs?: number;
  readonly lookEveryMs?: number;
}

interface Waiting {
  /** Process id at the server, as the server reported it. */
  readonly pid: number;
  /** URL of the server. */
  readonly url: string | undefined;
  readonly since: number;
  /** The last look found it idle. */
  isSuspected: boolean;
  lose(): void;
}

const SILENT_MS = 2_000;
const LOOK_EVERY_MS = 1_500;
/** Time limit of a look, for a frozen server. */
const LOOK_LIMIT_MS = 2_000;

export class LostConnections implements Disposable {
  readonly #hosts: DatabaseHosts;
  readonly #silentMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #waiting = new Set<Waiting>();
  #isLooking = false;

  constructor({ hosts, silentMs = SILENT_MS, lookEveryMs = LOOK_EVERY_MS }: LostConnectionOptions) {
    this.#hosts = hosts;
    this.#silentMs = silentMs;
    this.#timer = setInterval(() => this.#lookAtSilent(), lookEveryMs).unref();
  }

  /**
   * Waits for an answer. Rejects with `LostConnection` if it cannot arrive any more: the connection is then unusable.
   */
  async during<T>(at: Pick<Waiting, 'pid' | 'url'>, answer: Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    const lose = () => lost.reject(new LostConnection('a connection to the database was lost without a word'));
    const one = { ...at, since: steadyClock(), isSuspected: false, lose };
    this.#waiting.add(one);
    try {
      return await Promise.race([answer, lost.promise]);
    } finally {
      this.#waiting.delete(one);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #lookAtSilent(): void {
    const now = steadyClock();
    const { url } = this.#hosts;
    // Of another host the server that is asked knows nothing: there the query has a timeout of its own.
    const silent = [...this.#waiting].filter((one) => now - one.since >= this.#silentMs && one.url === url);
    if (silent.length === 0 || this.#isLooking) return;
    this.#isLooking = true;
    // If a look fails, another follows; queries also have a timeout of their own.
    void this.#look(url, silent)
      .catch(() => undefined)
      .finally(() => {
        this.#isLooking = false;
      });
  }

  /**
   * Finds lost connections: idle at two looks while the same query waits. An answer in flight would have arrived
   * between them.
   */
  async #look(url: string, silent: readonly Waiting[]): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: LOOK_LIMIT_MS,
      query_timeout: LOOK_LIMIT_MS,
      application_name: 'causeway look',
    });
    client.on('error', () => undefined); // the look fails
    try {
      await client.connect();
      const idle = await listIdle(client, silent);
      const lost = silent.filter((one) => one.isSuspected && idle.has(one.pid) && this.#waiting.has(one));
      for (const one of silent) one.isSuspected = idle.has(one.pid);
      for (const one of lost) one.lose();
      // Their locks would be held until the server notices that the connection is gone.
      const pids = lost.map(({ pid }) => pid);
      if (pids.length > 0) await client.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [pids]);
    } finally {
      await client.end().catch(() => undefined); // it is gone already
    }
  }
}

/**
 * Returns the backend pids of silent connections that the server reports as idle. A pooler reports other pids than the
 * server's, so its connections are never listed.
 */
async function listIdle(client: pg.Client, silent: readonly Waiting[]): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where pid = any($1::int[]) and usename = current_user and application_name = 'causeway' and state like 'idle%'`,
    [silent.map(({ pid }) => pid)],
  );
  return new Set(rows.map(({ pid }) => pid));
}
