/** `node:sqlite` under Kysely: opening a file with our settings, and the small adapter that Kysely's driver asks for. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Dialect, SqliteDialect } from 'kysely';

/** How long a statement waits for a writer in another process; inside this process there is one writer at a time. */
const BUSY_TIMEOUT_MS = 5000;
/** Prepared statements kept per connection; our queries are fewer, lists of varying length make more. */
const MAX_STATEMENTS = 300;

/** 0600, also the WAL beside it. Throws with the file's name when it is no database or is damaged. */
export function openSqliteFile(file: string): DatabaseSync {
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    database.exec('pragma journal_mode = wal; pragma synchronous = full');
    return database;
  } catch (error) {
    throw new Error(`cannot open the database ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** A second connection that only reads: with WAL it keeps one state while the writer goes on. */
export function openSqliteReader(file: string): DatabaseSync {
  return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
}

/** One connection: Kysely lets one query, or one whole transaction, at a time on it. */
export function sqliteDialect(database: DatabaseSync, options: { readonly readOnly: boolean }): Dialect {
  const dialect = new SqliteDialect({ database: adapt(database, options.readOnly ? 'begin' : 'begin immediate') });
  return {
    createDriver: () => dialect.createDriver(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createAdapter: () => ({
      supportsMultipleConnections: false,
      supportsReturning: true,
      // Kysely says no, SQLite can: a migration that is cut short leaves nothing behind.
      supportsTransactionalDdl: true,
      acquireMigrationLock: async () => undefined, // the transaction is the lock
      releaseMigrationLock: async () => undefined,
    }),
  };
}

/** `begin`: a transaction that takes the write lock at once never fails half-way because another process wrote. */
function adapt(database: DatabaseSync, begin: string) {
  const statements = new Map<string, Prepared>();
  return {
    prepare(sql: string) {
      // A full disk or a failing one ends a transaction by itself; an error of `rollback` would hide why.
      if (sql === 'rollback' && !database.isTransaction) return NOTHING;
      const { statement, reader } = statements.get(sql) ?? prepare(database, sql === 'begin' ? begin : sql);
      statements.delete(sql);
      statements.set(sql, { statement, reader });
      const [oldest] = statements.keys();
      if (statements.size > MAX_STATEMENTS && oldest !== undefined) statements.delete(oldest);
      return {
        reader,
        all: (values: readonly unknown[]) => statement.all(...values.map(toSqlValue)),
        run: (values: readonly unknown[]) => statement.run(...values.map(toSqlValue)),
        iterate: (values: readonly unknown[]) => statement.iterate(...values.map(toSqlValue)),
      };
    },
    close: () => database.close(),
  };
}

const NOTHING = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
};

interface Prepared {
  readonly statement: StatementSync;
  /** It gives rows. */
  readonly reader: boolean;
}

/** What it gives is asked once: that takes longer than many a statement itself. */
function prepare(database: DatabaseSync, sql: string): Prepared {
  const statement = database.prepare(sql);
  return { statement, reader: statement.columns().length > 0 };
}

/** Our columns are text and integers; anything else in a query is a mistake of ours. */
function toSqlValue(value: unknown): string | number | bigint | null {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  throw new TypeError(`not a value of a column: ${typeof value}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
