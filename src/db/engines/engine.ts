/**
 * The differences between SQLite and PostgreSQL: opening, SQL fragments of the schema, locks, and notifying listeners.
 * Every query is written once and runs on both.
 */
import { type Dialect, Kysely, PostgresAdapter, PostgresDialect, type RawBuilder, sql } from 'kysely';
import { type Clock, steadyClock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { withoutPassword } from '#lib/postgres-url.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import type { ColumnWords } from './column-types.ts';
import { DbMemory, withMemory } from './db-memory.ts';
import { DatabaseClock } from './postgres/database-clock.ts';
import { connectPrimary, discardSilent, type HostPool, openPool } from './postgres/pool.ts';
import { listenForPublishes, MESSAGE_CHANNEL, PUBLISH_CHANNEL } from './postgres/publish-listener.ts';
import { sqliteDialect } from './sqlite/dialect.ts';
import { DirectConnection } from './sqlite/direct.ts';
import type { RunStatement } from './sqlite/messages.ts';
import { openSqliteFile, openSqliteReader } from './sqlite/open-file.ts';
import { openStatements, type Statements } from './sqlite/statements.ts';

const MIN_POSTGRES_VERSION = 15;

export interface Engine extends AsyncDisposable {
  readonly name: 'sqlite' | 'postgres';
  readonly query: Kysely<Schema>;
  /** `Db.lookUps`. */
  readonly lookUps: Kysely<Schema>;
  readonly words: ColumnWords;
  /** `Db.clock`. */
  readonly clock: Clock;
  /** `Db.compareClock`. */
  compareClock(ask: () => Promise<number>): Promise<number>;
  /** Runs `work` on one consistent state, read only, while writers continue. */
  snapshot<T>(work: (x: Executor) => Promise<T>): Promise<T>;
  /** `Db.call`. */
  readonly call?: (name: string, take: () => unknown) => Promise<unknown>;
  /**
   * Calls `wake` for each publish and `take` for each message of a control, if the engine reports them by itself. Does
   * nothing on SQLite: see `open.ts`.
   */
  listen(wake: () => void, take: (message: string) => void): AsyncDisposable | undefined;
}

/** `procedures` and `isReader`: see `DatabaseOptions`. */
export async function openSqlite(
  file: string,
  { procedures, isReader = false }: { readonly procedures?: URL | undefined; readonly isReader?: boolean } = {},
): Promise<Engine> {
  const connection = await (isReader ? openSqliteReader(file) : openSqliteFile(file, procedures));
  const query = new Kysely<Schema>({ dialect: sqliteDialect(connection) });
  await query.connection().execute(async () => undefined); // Kysely closes the connection only if it has used it
  const lookUps = openLookUps(file);
  return {
    name: 'sqlite',
    query,
    lookUps: lookUps.query,
    clock: systemClock,
    compareClock: async () => 0,
    words: {
      identity: sql`integer primary key autoincrement check (id < 2147483648)`,
      bigIdentity: sql`integer primary key autoincrement`,
      bigint: 'integer',
      tableEnd: sql`strict`,
    },
    async snapshot(work) {
      const reader = new Kysely<Schema>({ dialect: sqliteDialect(await openSqliteReader(file)) });
      try {
        return await reader.transaction().execute(work);
      } finally {
        await reader.destroy();
      }
    },
    // The caller has exclusive use of the connection, so no transaction is open.
    ...(procedures !== undefined && {
      call: (name, take) => query.connection().execute(() => connection.call(name, take())),
    }),
    listen: () => undefined,
    async [Symbol.asyncDispose]() {
      lookUps.close();
      await query.destroy();
    },
  };
}

/** Opened on the first look-up: many commands have none. */
function openLookUps(file: string) {
  let statements: Statements | undefined;
  let isOpen = true;
  const run: RunStatement = (statement) => {
    if (!isOpen) throw new Error('the database is closed');
    statements ??= openStatements({ file, isReader: true });
    return statements.run(statement);
  };
  return {
    query: new Kysely<Schema>({ dialect: sqliteDialect(new DirectConnection(run)) }),
    close() {
      isOpen = false;
      statements?.close();
    },
  };
}

export interface PostgresOptions {
  readonly url: string;
  readonly listenUrl: string;
  readonly log: Logger;
}

/**
 * Throws if the server cannot be reached, refuses us, is too old or cannot store every text. Later failures reject the
 * query that they affect.
 */
export async function openPostgres({ url, listenUrl, log }: PostgresOptions): Promise<Engine> {
  const opened = openPool({ url, log });
  const clock = new DatabaseClock({ wall: systemClock, steady: steadyClock });
  try {
    await checkServer(opened, clock);
  } catch (error) {
    await opened.pool.end();
    const why = error instanceof Error ? error.message || error.name : String(error);
    throw new Error(`cannot use the database ${withoutPassword(url)}: ${why}`, { cause: error });
  }
  const memory = new DbMemory();
  // A pooler assigns any free connection to each transaction, so statement names cannot be used.
  const names = listenUrl === url ? { nameOf: (text: string) => memory.nameOf(text) } : {};
  const dialect = new PostgresDialect({ pool: discardSilent(opened, names) });
  const query = new Kysely<Schema>({ dialect: rememberingDialect(dialect, memory) });
  await query.connection().execute(async () => undefined); // Kysely ends the pool only if it has used it
  return {
    name: 'postgres',
    query,
    lookUps: query,
    clock: clock.now,
    compareClock: (ask) => clock.compare(ask),
    words: {
      identity: sql`integer generated by default as identity primary key`,
      bigIdentity: sql`bigint generated by default as identity primary key`,
      bigint: 'bigint',
      tableEnd: sql``,
    },
    snapshot: (work) =>
      query.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    listen: (wake, take) => listenForPublishes({ url: listenUrl, wake, take, log }),
    [Symbol.asyncDispose]: () => query.destroy(),
  };
}

function rememberingDialect(dialect: Dialect, memory: DbMemory): Dialect {
  return {
    createDriver: () => dialect.createDriver(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createAdapter: () => withMemory(dialect.createAdapter(), memory),
  };
}

async function checkServer(opened: HostPool, clock: DatabaseClock): Promise<void> {
  const client = await connectPrimary(opened);
  let [version, encoding] = ['0', ''];
  try {
    await clock.compare(async () => {
      const { rows } = await client.query<{ version: string; encoding: string; now: number }>(
        `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
          ${SERVER_CLOCK} as now`,
      );
      const [{ now, ...found } = { version, encoding, now: systemClock() }] = rows;
      ({ version, encoding } = found);
      return now;
    });
  } finally {
    client.release();
  }
  const major = Math.floor(Number(version) / 10_000);
  if (major < MIN_POSTGRES_VERSION) {
    throw new Error(`it is PostgreSQL ${major}, and ${MIN_POSTGRES_VERSION} or later is needed`);
  }
  if (encoding !== 'UTF8')
    throw new Error(`its encoding is ${encoding}, and UTF8 is needed: create it with encoding 'UTF8'`);
}

/** Holds the lock `name` until the transaction ends. On SQLite a transaction has the whole database to itself. */
export async function lockInTransaction(trx: Executor, name: string): Promise<void> {
  if (isPostgres(trx)) await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
}

/** Blocks other writers of `tables` until the transaction ends; readers continue. */
export async function lockTables(trx: Executor, tables: readonly string[]): Promise<void> {
  if (!isPostgres(trx)) return;
  await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in exclusive mode`.execute(trx);
}

/** Lets the transaction stay idle without a timeout, as while a slow reader or writer holds us up. */
export async function keepWaiting(x: Executor): Promise<void> {
  if (isPostgres(x)) await sql`set local idle_in_transaction_session_timeout = 0`.execute(x);
}

/** PostgreSQL's clock in epoch milliseconds; unlike `now()`, not that of the transaction's beginning. */
const SERVER_CLOCK = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** The database's clock inside a statement. `now` is that of SQLite, which has no other than its process. */
export function nowIn(x: Executor, now: number): RawBuilder<number> {
  return isPostgres(x) ? sql.raw(SERVER_CLOCK) : sql`${now}`;
}

/** Notifies listeners when the transaction commits; on SQLite `open.ts` checks after each commit. */
export async function wakeListeners(trx: Executor): Promise<void> {
  if (isPostgres(trx)) await sql`select pg_notify(${PUBLISH_CHANNEL}, '')`.execute(trx);
}

/** Sends a message to every control of this database. It has at most 7,999 bytes. Does nothing on SQLite. */
export async function sendMessage(x: Executor, message: string): Promise<void> {
  if (isPostgres(x)) await sql`select pg_notify(${MESSAGE_CHANNEL}, ${message})`.execute(x);
}

export function isPostgres(x: Executor): boolean {
  return x.getExecutor().adapter instanceof PostgresAdapter;
}
