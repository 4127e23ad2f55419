/** A connection to SQLite in the calling thread: statements run synchronously. */
import type { CompiledQuery, QueryResult } from 'kysely';
import { type SingleConnection, toStatement } from './dialect.ts';
import type { RowsQuery, RunStatement } from './messages.ts';

export class DirectConnection implements SingleConnection {
  readonly #run: RunStatement;

  constructor(run: RunStatement) {
    this.#run = run;
  }

  begin(): void {
    this.#run({ text: 'begin', values: [] });
  }

  async executeQuery<R>(query: CompiledQuery | RowsQuery<R>): Promise<QueryResult<R>> {
    const ran = this.#run(toStatement(query));
    // `as`: Kysely knows the columns of a query.
    return ran.kind === 'rows' ? { rows: ran.rows as R[] } : { rows: [], numAffectedRows: ran.changes };
  }

  // biome-ignore lint/correctness/useYield: nothing here reads row by row; Kysely's type requires it
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('SQLite gives all rows at once here');
  }

  /** Does nothing: the connection is closed by the code that opened it. */
  async close(): Promise<void> {}
}
