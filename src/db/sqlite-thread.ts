/**
 * The thread that has an SQLite database open: statements come as messages, run one after the other in the order in which
 * they came, and each is answered; `close` closes it. `sqlite.ts` is the other end. docs/decisions/0282
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

export interface OpenSettings {
  readonly file: string;
  /** A second connection that only reads: with WAL it keeps one state while the writer goes on. */
  readonly isReader: boolean;
}

/** They come as lists, each of which is answered by one. */
export interface Statement {
  readonly id: number;
  readonly text: string;
  readonly values: readonly (string | number | bigint | null)[];
}

/** To the opening, which has the id 0, and to each statement. */
export type ThreadAnswer =
  | { readonly id: number; readonly kind: 'rows'; readonly rows: Record<string, unknown>[] }
  | { readonly id: number; readonly kind: 'changes'; readonly changes: bigint }
  | { readonly id: number; readonly kind: 'error'; readonly error: ThreadError };

/** An error loses its members on the way between threads. */
export interface ThreadError {
  readonly message: string;
  readonly code?: unknown;
  /** SQLite's extended result code. */
  readonly errcode?: unknown;
}

/** How long a statement waits for a writer in another process; inside this process there is one writer at a time. */
const BUSY_TIMEOUT_MS = 5000;
/** Prepared statements kept per connection; our queries are fewer, lists of varying length make more. */
const MAX_STATEMENTS = 300;

interface Prepared {
  readonly statement: StatementSync;
  /** It gives rows. */
  readonly isReader: boolean;
}

function serve(to: NonNullable<typeof parentPort>, settings: OpenSettings): void {
  try {
    const connection = new Connection(open(settings), settings);
    to.on('message', (statements: readonly Statement[] | 'close') => {
      if (statements !== 'close') return to.postMessage(statements.map((statement) => answer(connection, statement)));
      connection.close();
      to.close();
    });
    to.postMessage([{ id: 0, kind: 'changes', changes: 0n }] satisfies ThreadAnswer[]);
  } catch (error) {
    to.postMessage([{ id: 0, kind: 'error', error: threadError(error) }] satisfies ThreadAnswer[]);
    to.close();
  }
}

function open({ file, isReader }: OpenSettings): DatabaseSync {
  if (isReader) return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  return database;
}

function answer(connection: Connection, { id, text, values }: Statement): ThreadAnswer {
  try {
    const { statement, isReader } = connection.begin(text);
    if (isReader) return { id, kind: 'rows', rows: statement.all(...values) };
    return { id, kind: 'changes', changes: BigInt(statement.run(...values).changes) };
  } catch (error) {
    connection.failed(error);
    return { id, kind: 'error', error: threadError(error) };
  }
}

class Connection {
  readonly #database: DatabaseSync;
  /** A transaction that takes the write lock at once never fails half-way because another process wrote. */
  readonly #begin: string;
  readonly #statements = new Map<string, Prepared>();
  #isInTransaction = false;
  /** Why the transaction that whoever asks believes to be in has ended. */
  #end: { readonly error: unknown } | undefined;

  constructor(database: DatabaseSync, { isReader }: OpenSettings) {
    this.#database = database;
    this.#begin = isReader ? 'begin' : 'begin immediate';
  }

  /** The statement, to be run at once. Throws what ended its transaction before. */
  begin(text: string): Prepared {
    const isEnd = text === 'rollback' || text === 'commit';
    const end = this.#end;
    if (isEnd || text === 'begin') this.#end = undefined;
    this.#isInTransaction = !isEnd && (this.#isInTransaction || text === 'begin');
    // A full disk or a failing one ends a transaction by itself; an error of `rollback` would hide why.
    if (text === 'rollback' && !this.#database.isTransaction) return this.#prepare('select 1 where 0');
    // What comes after such an end would be outside of any transaction, and stay.
    if (end !== undefined && text !== 'rollback') throw end.error;
    return this.#prepare(text === 'begin' ? this.#begin : text);
  }

  failed(error: unknown): void {
    if (this.#isInTransaction && !this.#database.isTransaction) this.#end ??= { error };
  }

  close(): void {
    this.#database.close();
  }

  #prepare(text: string): Prepared {
    const prepared = this.#statements.get(text) ?? this.#prepareAnew(text);
    this.#statements.delete(text);
    this.#statements.set(text, prepared);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size > MAX_STATEMENTS && oldest !== undefined) this.#statements.delete(oldest);
    return prepared;
  }

  /** What it gives is asked once: that takes longer than many a statement itself. */
  #prepareAnew(text: string): Prepared {
    const statement = this.#database.prepare(text);
    return { statement, isReader: statement.columns().length > 0 };
  }
}

function threadError(error: unknown): ThreadError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message } = error;
  return {
    message,
    ...('code' in error && { code: error.code }),
    ...('errcode' in error && { errcode: error.errcode }),
  };
}

// Below the class, which must be there. `as`: `sqlite.ts`, which starts the thread, gives this.
if (parentPort !== null) serve(parentPort, workerData as OpenSettings);
