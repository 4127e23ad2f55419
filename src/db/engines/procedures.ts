/**
 * Stored procedures: transactions as functions on plain values. On SQLite they can run in the thread that has the
 * database open: one round trip instead of one per batch. docs/decisions/0511
 */
import type { Transaction } from 'kysely';
import type { Schema } from '../schema/schema.ts';

/** Arguments and results are JSON if the procedure runs in another thread. A procedure publishes nothing. */
type Procedure<A, R> = (trx: Transaction<Schema>, args: A) => Promise<R>;

export type Procedures = Readonly<Record<string, Procedure<never, unknown>>>;

/** Exports of the file that `DatabaseOptions.procedures` names. */
export interface ProcedureFile {
  createProcedures(): Procedures;
}

export function missing(name: string): never {
  throw new Error(`there is no procedure ${JSON.stringify(name)}`);
}
