/** Kysely dialect of SQLite on a single connection, in any thread. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { DbMemory, withMemory } from '../db-memory.ts';
import type { RowsQuery, StatementRequest } from './messages.ts';

/** Kysely runs one query, or one whole transaction, at a time on it. */
export interface SingleConnection extends DatabaseConnection {
  begin(): void;
  close(): Promise<void>;
}

export function sqliteDialect(connection: SingleConnection): Dialect {
  return {
    createDriver: () => new SqliteDriver(connection),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createAdapter: () => withMemory(new Adapter(), new DbMemory()),
  };
}

export function toStatement(query: CompiledQuery | RowsQuery<unknown>): Omit<StatementRequest, 'id'> {
  const each = 'rows' in query ? { rows: query.rows, places: query.places, wide: query.wide } : undefined;
  return { text: query.sql, values: query.parameters.map(toSqlValue), each };
}

/** Our columns are text and integers; any other value is a bug. */
function toSqlValue(value: unknown): string | number | bigint | null {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  throw new TypeError(`not a value of a column: ${typeof value}`);
}

class Adapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return false;
  }

  /** SQLite supports it, although Kysely says no: an interrupted migration leaves nothing behind. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  override async acquireMigrationLock(): Promise<void> {} // the transaction is the lock
  override async releaseMigrationLock(): Promise<void> {}
}

class SqliteDriver implements Driver {
  readonly #connection: SingleConnection;

  constructor(connection: SingleConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  /**
   * Begins a transaction. For a connection in another thread, `begin` travels with the first statement, which also
   * reports its failure.
   */
  async beginTransaction(): Promise<void> {
    this.#connection.begin();
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await this.#connection.close();
  }
}
