/**
 * A connection to SQLite whose statements run in a thread of its own, so that a slow disk blocks nothing else.
 * docs/decisions/0282
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { CompiledQuery, QueryResult } from 'kysely';
import { type SingleConnection, toStatement } from './dialect.ts';
import type { CallRequest, OpenSettings, RowsQuery, StatementRequest, ThreadAnswer, ThreadError } from './messages.ts';

/**
 * Opens a file with mode 0600, as its WAL. `procedures`: see `DatabaseOptions`. Throws an error that names the file if
 * it is damaged or not a database.
 */
export async function openSqliteFile(file: string, procedures?: URL): Promise<SqliteConnection> {
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    return await SqliteConnection.open({ file, isReader: false, procedures: procedures?.href });
  } catch (error) {
    throw nameProblem(file, error);
  }
}

/** Opens a read-only connection: with WAL it keeps one state while the writer continues. */
export async function openSqliteReader(file: string): Promise<SqliteConnection> {
  try {
    return await SqliteConnection.open({ file, isReader: true });
  } catch (error) {
    throw nameProblem(file, error);
  }
}

function nameProblem(file: string, error: unknown): Error {
  return new Error(`cannot open the database ${file}: ${messageOf(error)}`, { cause: error });
}

export class SqliteConnection implements SingleConnection {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PromiseWithResolvers<ThreadAnswer>>();
  readonly #ended = Promise.withResolvers<void>();
  #unsent: StatementRequest[] = [];
  #lastId = 0;
  #isOpen = true;

  static async open(settings: OpenSettings): Promise<SqliteConnection> {
    const connection = new SqliteConnection(settings);
    await connection.#wait(0);
    return connection;
  }

  private constructor(settings: OpenSettings) {
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: settings });
    this.#worker.on('message', (answers: readonly ThreadAnswer[]) => {
      for (const answer of answers) this.#take(answer);
    });
    this.#worker.on('error', (error) => this.#end(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#end(new Error('the database is closed')));
  }

  begin(): void {
    this.#unsent.push({ id: ++this.#lastId, text: 'begin', values: [] });
  }

  /** Statements of one turn are sent as one message: waking a thread costs more than most statements. */
  async executeQuery<R>(query: CompiledQuery | RowsQuery<R>): Promise<QueryResult<R>> {
    const { text, values, each } = toStatement(query);
    const id = ++this.#lastId;
    const answered = this.#wait(id);
    this.#unsent.push({ id, text, values, each });
    queueMicrotask(() => this.#send());
    const answer = await answered;
    // `as`: Kysely knows the columns of a query.
    if (answer.kind === 'rows') return { rows: answer.rows as R[] };
    return { rows: [], ...(answer.kind === 'changes' && { numAffectedRows: answer.changes }) };
  }

  /** Runs the procedure in the thread, as a transaction of its own. */
  async call(name: string, args: unknown): Promise<unknown> {
    const id = ++this.#lastId;
    const answered = this.#wait(id);
    this.#send();
    this.#worker.postMessage({ id, name, args: JSON.stringify(args ?? null) } satisfies CallRequest);
    const answer = await answered;
    return answer.kind === 'value' && answer.value !== undefined ? JSON.parse(answer.value) : undefined;
  }

  // biome-ignore lint/correctness/useYield: nothing here reads row by row; Kysely's type requires it
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('SQLite gives all rows at once here');
  }

  /** Closes the connection after pending statements. */
  async close(): Promise<void> {
    this.#send();
    this.#isOpen = false;
    this.#worker.ref();
    this.#worker.postMessage('close');
    await this.#ended.promise;
  }

  /** Waits for an answer. An idle thread does not keep the process alive. */
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

function sqliteError({ message, ...members }: ThreadError): Error {
  return Object.assign(new Error(message), members);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
