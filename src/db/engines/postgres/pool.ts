/** The connections to PostgreSQL, with their number and time limits. */
import type { Writable } from 'node:stream';
import type { PostgresPool } from 'kysely';
import pg from 'pg';
import type { Logger } from '#lib/logger.ts';
import { DatabaseHosts, NotPrimary } from './hosts.ts';
import { LostConnection, type LostConnectionOptions, LostConnections } from './lost-connections.ts';

/** Connections per process; PostgreSQL's own default is 100 for all. */
const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 5000;
/** Limit for each of several hosts, so that a caller reaches the third one before it gives up. */
const CONNECT_TO_ONE_MS = 3000;
/** The server cancels longer statements. */
const STATEMENT_TIMEOUT_MS = 20_000;
/** Limit on our side, for when the server is frozen or the network drops everything. Callers wait 30 s. */
const QUERY_TIMEOUT_MS = 25_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
/** Cached plans must suit grown tables, too: see docs/decisions/0511. */
const BEGIN = 'begin; set local enable_seqscan = off; set local jit = off';
/** PostgreSQL's type number of 64-bit integers, which `pg` returns as text; ours are all below 2^53. */
const INT8 = 20;

export interface PoolOptions {
  /** URL with one host or several, of which the primary is used. */
  readonly url: string;
  readonly log: Logger;
  /** Limit of a query, for tests. */
  readonly queryTimeoutMs?: number;
}

/** A pool, and the hosts that its connections lead to. */
export interface HostPool {
  readonly pool: pg.Pool;
  readonly hosts: DatabaseHosts;
  /** URL of the host of each connection. */
  readonly urls: WeakMap<object, string>;
}

export function openPool({ url, log, queryTimeoutMs = QUERY_TIMEOUT_MS }: PoolOptions): HostPool {
  const hosts = new DatabaseHosts(url);
  const urls = new WeakMap<object, string>();
  const pool = new pg.Pool({
    // `as`: the pool calls it with `new` only.
    Client: function open(options: pg.ClientConfig) {
      const client = new pg.Client({ ...options, connectionString: hosts.url });
      urls.set(client, hosts.url);
      return client;
    } as unknown as typeof pg.Client,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: hosts.count === 1 ? CONNECT_TIMEOUT_MS : CONNECT_TO_ONE_MS,
    ...(hosts.count > 1 && { onConnect: refuseStandby }),
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true, // queries of one turn are sent together (docs/decisions/0511)
    application_name: 'causeway',
    types: { getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
  });
  // The pool replaces a lost connection; the query that used it fails.
  const note = (error: Error) => log.warn({ err: error }, 'database connection lost');
  pool.on('error', note);
  pool.on('connect', (client) => client.on('error', note));
  return { pool, hosts, urls };
}

async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
  if (rows[0]?.standby !== false) throw new NotPrimary('the database server is a standby');
}

/** Takes a connection out of the pool. With several hosts each of them is tried once. */
export async function connectPrimary({ pool, hosts }: HostPool): Promise<pg.PoolClient> {
  for (let tries = 1; ; tries += 1) {
    const { url } = hosts;
    try {
      return await pool.connect();
    } catch (error) {
      if (!isPoolFull(error)) hosts.pass(url);
      if (tries >= hosts.count) throw error;
    }
  }
}

/** Whether all connections were in use for too long, which no other host changes. */
function isPoolFull(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

/** SQLSTATE of a write to a server that has become a standby, or in a transaction that may only read. */
const READ_ONLY = '25006';

/**
 * The pool as used by Kysely. A connection that left a query unanswered is closed, since it would block the next one,
 * too.
 */
export function discardSilent(
  opened: HostPool,
  { nameOf = () => undefined, ...times }: Omit<LostConnectionOptions, 'hosts' | 'onMoved'> & NameOption = {},
): PostgresPool {
  const { pool, hosts, urls } = opened;
  // A server that refuses to write has become a standby: connections that were made before lead there, too.
  let generation = 0;
  const generations = new WeakMap<object, number>();
  pool.on('connect', (client) => generations.set(client, generation));
  const dropAll = (url: string | undefined) => {
    generation += 1;
    if (url !== undefined) hosts.pass(url);
  };
  const lost = new LostConnections({ ...times, hosts, onMoved: dropAll });
  const takeUsable = async () => {
    for (;;) {
      const client = await connectPrimary(opened);
      if ((generations.get(client) ?? 0) === generation) return client;
      client.release(true);
    }
  };
  return {
    options: pool.options,
    async connect() {
      const client = await takeUsable();
      // `as`: the type lacks these fields. The first is the server's process id, absent until the server has sent it.
      const { processID: pid, connection } = client as unknown as ClientParts;
      let silence: unknown;
      const query = async (text: string, values: readonly unknown[]) => {
        if (silence !== undefined) throw silence;
        try {
          const name = nameOf(text);
          sendTogether(connection.stream);
          const asked =
            name === undefined ? client.query(text, [...values]) : client.query({ name, text, values: [...values] });
          return await lost.during({ pid: pid ?? 0, url: urls.get(client) }, asked);
        } catch (error) {
          if (isQueryTimeout(error) || error instanceof LostConnection) silence = error;
          if (error instanceof pg.DatabaseError && error.code === READ_ONLY) {
            silence = error;
            dropAll(urls.get(client));
          }
          throw error;
        }
      };
      /** Sends BEGIN without waiting: later statements fail if it has failed. */
      const begin = async () => {
        query(BEGIN, []).catch((error: unknown) => {
          silence ??= error;
        });
        return { command: 'BEGIN', rowCount: null, rows: [] };
      };
      return {
        // `as`: the other overload of Kysely's type reads with a cursor, which we never use.
        query: ((text: string, values: readonly unknown[]) =>
          text === 'begin' ? begin() : query(text, values)) as unknown as Awaited<
          ReturnType<PostgresPool['connect']>
        >['query'],
        release: () => client.release(silence !== undefined),
      };
    },
    async end() {
      lost[Symbol.dispose]();
      await pool.end();
    },
  };
}

interface NameOption {
  /** Name under which a connection keeps a statement; `undefined` for none. */
  readonly nameOf?: (text: string) => string | undefined;
}

interface ClientParts {
  readonly processID?: number | null;
  readonly connection: { readonly stream: Writable };
}

/** Merges the messages of one turn of the event loop into one write. */
function sendTogether(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Whether `pg` reports a query timeout, which has no code. */
export function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
