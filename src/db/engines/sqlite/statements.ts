/**
 * Runs statements on an SQLite database in the calling thread. They are prepared once, and refused if their transaction
 * has ended by itself.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { OpenSettings, Ran, StatementRequest } from './messages.ts';

/** How long a statement waits for a writer in another process; within this process there is one writer at a time. */
const BUSY_TIMEOUT_MS = 5000;
/** Prepared statements kept per connection. Our queries are fewer, but lists of varying length add more. */
const MAX_STATEMENTS = 300;

interface Prepared {
  readonly statement: StatementSync;
  /** The statement returns rows. */
  readonly isReader: boolean;
}

/** Throws if the file is damaged or not a database. */
export function openStatements(settings: OpenSettings): Statements {
  return new Statements(open(settings), settings);
}

function open({ file, isReader }: OpenSettings): DatabaseSync {
  if (isReader) return new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  return database;
}

export class Statements {
  readonly #database: DatabaseSync;
  /** Takes the write lock at the start, so that a transaction cannot fail later because another process wrote. */
  readonly #beginText: string;
  readonly #statements = new Map<string, Prepared>();
  #isInTransaction = false;
  /** The error that ended a transaction that the caller believes to be open. */
  #end: { readonly error: unknown } | undefined;

  constructor(database: DatabaseSync, { isReader }: OpenSettings) {
    this.#database = database;
    this.#beginText = isReader ? 'begin' : 'begin immediate';
  }

  /** Throws the statement's error, or the error that ended its transaction before. */
  run({ text, values, each }: Omit<StatementRequest, 'id'>): Ran {
    try {
      const { statement, isReader } = this.#begin(text);
      if (each !== undefined) return { kind: 'changes', changes: this.#runEach(statement, values, each) };
      if (isReader) return { kind: 'rows', rows: statement.all(...values) };
      return { kind: 'changes', changes: BigInt(statement.run(...values).changes) };
    } catch (error) {
      if (this.#isInTransaction && !this.#database.isTransaction) this.#end ??= { error };
      throw error;
    }
  }

  /** Runs several rows at once as far as possible, the rest one by one. */
  #runEach(
    one: StatementSync,
    values: StatementRequest['values'],
    each: NonNullable<StatementRequest['each']>,
  ): bigint {
    const { rows, wide = [] } = each;
    let [from, changes] = [0, 0];
    for (const { rows: count, text } of wide) {
      if (from + count > rows.length) continue;
      const { statement } = this.#prepare(text);
      for (; from + count <= rows.length; from += count)
        changes += Number(statement.run(...valuesOf(rows, from, from + count)).changes);
    }
    return BigInt(changes + runOneByOne(one, values, { ...each, rows: rows.slice(from) }));
  }

  close(): void {
    this.#database.close();
  }

  /** Returns the prepared statement, to be run immediately. */
  #begin(text: string): Prepared {
    const isEnd = text === 'rollback' || text === 'commit';
    const end = this.#end;
    if (isEnd || text === 'begin') this.#end = undefined;
    this.#isInTransaction = !isEnd && (this.#isInTransaction || text === 'begin');
    // A full or failing disk ends a transaction by itself; an error of `rollback` would hide the cause.
    if (text === 'rollback' && !this.#database.isTransaction) return this.#prepare('select 1 where 0');
    // Later statements would run outside of any transaction and persist.
    if (end !== undefined && text !== 'rollback') throw end.error;
    return this.#prepare(text === 'begin' ? this.#beginText : text);
  }

  #prepare(text: string): Prepared {
    const prepared = this.#statements.get(text) ?? this.#prepareAnew(text);
    this.#statements.delete(text);
    this.#statements.set(text, prepared);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size > MAX_STATEMENTS && oldest !== undefined) this.#statements.delete(oldest);
    return prepared;
  }

  /** Whether a statement returns rows is determined once: that takes longer than most statements. */
  #prepareAnew(text: string): Prepared {
    const statement = this.#database.prepare(text);
    return { statement, isReader: statement.columns().length > 0 };
  }
}

/** Values of several rows, one after the other; `flat` takes several times as long. */
function valuesOf(rows: Rows, from: number, to: number): StatementRequest['values'] {
  const values: StatementRequest['values'][number][] = [];
  for (let n = from; n < to; n += 1) values.push(...(rows[n] ?? []));
  return values;
}

type Rows = NonNullable<StatementRequest['each']>['rows'];

function runOneByOne(
  statement: StatementSync,
  values: StatementRequest['values'],
  { rows, places }: NonNullable<StatementRequest['each']>,
): number {
  // Usually the parameters are exactly the row's values.
  const isWhole = places.length === rows[0]?.length && places.every((place, n) => place === n);
  const given = [...values];
  let changes = 0;
  for (const row of rows) {
    if (!isWhole) for (const [n, place] of places.entries()) if (place >= 0) given[n] = row[place] ?? null;
    changes += Number(statement.run(...(isWhole ? row : given)).changes);
  }
  return changes;
}
