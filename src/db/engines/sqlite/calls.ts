/** Runs procedures in SQLite's thread: Kysely on the thread's own connection, where statements run synchronously. */
import { Kysely } from 'kysely';
import type { Schema } from '../../schema/schema.ts';
import { missing, type ProcedureFile } from '../procedures.ts';
import { sqliteDialect } from './dialect.ts';
import { DirectConnection } from './direct.ts';
import type { RunStatement } from './messages.ts';

/** `file`: the URL of a `ProcedureFile`. */
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
