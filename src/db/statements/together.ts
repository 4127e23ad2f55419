/** Statements that need nothing of each other: sent at once, they take one way to the database and back. docs/decisions/0283 */
import type { CompiledQuery, DatabaseConnection, Transaction } from 'kysely';
import { isPostgres } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';

/** A statement that can be compiled, such as a query or `sql` of Kysely. */
export interface Statement<T> {
  compile(x: Executor): CompiledQuery<T>;
}

export type Rows<T extends readonly unknown[]> = { readonly [K in keyof T]: readonly T[K][] };

const connections = new WeakMap<Transaction<Schema>, DatabaseConnection>();
const failures = new WeakMap<Transaction<Schema>, unknown>();

/**
 * Makes `runTogether` send at once from now on, even while other statements of the transaction are in flight: they run
 * in the order in which they were sent. Kysely itself allows one at a time on the connection.
 */
export async function sendAtOnce(trx: Transaction<Schema>): Promise<void> {
  await trx.getExecutor().provideConnection(async (connection) => connections.set(trx, connection));
}

/**
 * Runs statements in their order. Returns the rows of each, none for an `undefined` statement. Rejects as soon as one
 * has failed, and the transaction is lost then.
 */
export async function runTogether<T extends readonly unknown[]>(
  trx: Transaction<Schema>,
  statements: { readonly [K in keyof T]: Statement<T[K]> | undefined },
): Promise<Rows<T>> {
  const compiled = statements.map((statement) => statement?.compile(trx));
  const run = (connection: DatabaseConnection) =>
    Promise.all(compiled.map((one) => one && connection.executeQuery(one)));
  const connection = connections.get(trx);
  const results = await (connection === undefined ? trx.getExecutor().provideConnection(run) : run(connection));
  // `as`: what the statements give, whoever wrote them knows; `map` forgets how many there are.
  return results.map((result) => result?.rows ?? []) as unknown as Rows<T>;
}

/**
 * Runs statements whose result the transaction does not need. On PostgreSQL nothing waits for them: the commit goes out
 * behind them, and fails if one has failed.
 */
export async function runBehind(
  trx: Transaction<Schema>,
  statements: readonly (Statement<unknown> | undefined)[],
): Promise<void> {
  const running = runTogether(trx, statements);
  if (!isPostgres(trx)) await running;
  else running.catch((error: unknown) => failures.set(trx, error));
}

/** Why the transaction cannot be committed, of what nobody waits for. */
export function failureBehind(trx: Transaction<Schema>): unknown {
  return failures.get(trx);
}

/** What runs beside each other in one transaction: all of it has ended when one of them rejects. */
export async function allOf<T extends readonly unknown[]>(
  work: {
    readonly [K in keyof T]: Promise<T[K]>;
  },
): Promise<{ readonly [K in keyof T]: T[K] }> {
  await Promise.allSettled(work);
  return (await Promise.all(work)) as { readonly [K in keyof T]: T[K] };
}
