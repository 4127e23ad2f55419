/** The connections to PostgreSQL, with their number and time limits. */
import type { Writable } from 'node:stream';
import type { PostgresPool } from 'kysely';
import pg from 'pg';
import type { Logger } from '#lib/logger.ts';
import { LostConnection, type LostConnectionOptions, LostConnections } from './lost-connections.ts';

/** Connections per process; PostgreSQL's own default is 100 for all. */
const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 5000;
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
  readonly url: string;
  readonly log: Logger;
  /** Limit of a query, for tests. */
  readonly queryTimeoutMs?: number;
}

export function openPool({ url, log, queryTimeoutMs = QUERY_TIMEOUT_MS }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
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
  return pool;
}

/**
 * The pool as used by Kysely. A connection that left a query unanswered is closed, since it would block the next one,
 * too.
 */
export function discardSilent(
  pool: pg.Pool,
  { nameOf = () => undefined, ...times }: Omit<LostConnectionOptions, 'url'> & NameOption = {},
): PostgresPool {
  const lost = new LostConnections({ ...times, url: pool.options.connectionString });
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect();
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
          return await lost.during(pid ?? 0, asked);
        } catch (error) {
          if (isQueryTimeout(error) || error instanceof LostConnection) silence = error;
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
