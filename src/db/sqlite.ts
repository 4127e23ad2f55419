/** SQLite under Kysely: a connection whose statements run in a thread of its own, so that a slow disk holds nobody up. docs/decisions/0282 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { OpenSettings, Statement, ThreadAnswer, ThreadError } from './sqlite-thread.ts';

/** 0600, also the WAL beside it. Throws with the file's name when it is no database or is damaged. */
export async function openSqliteFile(file: string): Promise<SqliteConnection> {
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    return await SqliteConnection.open({ file, isReader: false });
  } catch (error) {
    throw new Error(`cannot open the database ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** A second connection that only reads: with WAL it keeps one state while the writer goes on. */
export function openSqliteReader(file: string): Promise<SqliteConnection> {
  return SqliteConnection.open({ file, isReader: true });
}

/** One connection: Kysely lets one query, or one whole transaction, at a time on it. */
export function sqliteDialect(connection: SqliteConnection): Dialect {
  return {
    createDriver: () => new SqliteDriver(connection),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createAdapter: () => new Adapter(),
  };
}

class Adapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return false;
  }

  /** Kysely says no, SQLite can: a migration that is cut short leaves nothing behind. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  override async acquireMigrationLock(): Promise<void> {} // the transaction is the lock
  override async releaseMigrationLock(): Promise<void> {}
}

class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  /** It goes with the first statement, which is told when it fails. */
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

export class SqliteConnection implements DatabaseConnection {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PromiseWithResolvers<ThreadAnswer>>();
  readonly #ended = Promise.withResolvers<void>();
  #unsent: Statement[] = [];
  #lastId = 0;
  #isOpen = true;

  static async open(settings: OpenSettings): Promise<SqliteConnection> {
    const connection = new SqliteConnection(settings);
    await connection.#wait(0);
    return connection;
  }

  private constructor(settings: OpenSettings) {
    this.#worker = new Worker(new URL('./sqlite-thread.ts', import.meta.url), { workerData: settings });
    this.#worker.on('message', (answers: readonly ThreadAnswer[]) => {
      for (const answer of answers) this.#take(answer);
    });
    this.#worker.on('error', (error) => this.#end(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#end(new Error('the database is closed')));
  }

  begin(): void {
    this.#unsent.push({ id: ++this.#lastId, text: 'begin', values: [] });
  }

  /** What is asked in one turn goes as one message: waking a thread costs more than many a statement. */
  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const values = parameters.map(toSqlValue);
    const id = ++this.#lastId;
    const answered = this.#wait(id);
    this.#unsent.push({ id, text, values });
    queueMicrotask(() => this.#send());
    const answer = await answered;
    // `as`: what the columns of a query are, Kysely knows.
    if (answer.kind === 'rows') return { rows: answer.rows as R[] };
    return { rows: [], ...(answer.kind === 'changes' && { numAffectedRows: answer.changes }) };
  }

  // biome-ignore lint/correctness/useYield: nothing here reads row by row; Kysely's type asks for it
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('SQLite gives all rows at once here');
  }

  /** What was asked before is finished first. */
  async close(): Promise<void> {
    this.#send();
    this.#isOpen = false;
    this.#worker.ref();
    this.#worker.postMessage('close');
    await this.#ended.promise;
  }

  /** A thread that has nothing to do keeps no process alive. */
  async #wait(id: number): Promise<ThreadAnswer> {
    if (!this.#isOpen) throw new Error('the database is closed');
    if (this.#pending.size === 0) this.#worker.ref();
    const pending = Promise.withResolvers<ThreadAnswer>();
    this.#pending.set(id, pending);
    return await pending.promise;
  }

  #send(): void {
    if (this.#unsent.length === 0) return;
    this.#worker.postMessage(this.#unsent);
    this.#unsent = [];
  }

  #take(answer: ThreadAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0 && this.#isOpen) this.#worker.unref();
    if (answer.kind === 'error') pending?.reject(sqliteError(answer.error));
    else pending?.resolve(answer);
  }

  #end(error: Error): void {
    this.#isOpen = false;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#ended.resolve();
  }
}

/** Our columns are text and integers; anything else in a query is a mistake of ours. */
function toSqlValue(value: unknown): string | number | bigint | null {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  throw new TypeError(`not a value of a column: ${typeof value}`);
}

function sqliteError({ message, ...members }: ThreadError): Error {
  return Object.assign(new Error(message), members);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
