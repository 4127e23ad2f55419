/** Procedures in the thread of SQLite: Kysely on the thread's own connection, where each statement is run at once. */
import { Kysely } from 'kysely';
import { missing, type ProcedureFile } from './procedures.ts';
import type { Schema } from './schema.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { DirectConnection } from './sqlite-direct.ts';
import type { RunStatement } from './sqlite-messages.ts';

/** `file`: the address of a `ProcedureFile`. */
export async function createCalls(
  run: RunStatement,
  file: string,
): Promise<(name: string, args: unknown) => Promise<unknown>> {
  // `as`: the database is opened with a file of this kind
  const { createProcedures } = (await import(file)) as ProcedureFile;
  const procedures = createProcedures();
  const query = new Kysely<Schema>({ dialect: sqliteDialect(new DirectConnection(run)) });
  return async (name, args) => {
    const procedure = procedures[name] ?? missing(name);
    // `as`: the caller passes the procedure's own arguments
    return await query.transaction().execute((trx) => procedure(trx, args as never));
  };
}
