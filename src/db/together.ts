/** Statements that need nothing of each other: sent at once, they take one way to the database and back. docs/decisions/0283 */
import type { CompiledQuery, Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** As a query or `sql` of Kysely's is. */
export interface Statement<T> {
  compile(trx: Transaction<Schema>): CompiledQuery<T>;
}

/** Run in their order; gives the rows of each, none for what is `undefined`. Rejects as soon as one has failed, and the transaction is lost then. */
export async function runTogether<T extends readonly unknown[]>(
  trx: Transaction<Schema>,
  statements: { readonly [K in keyof T]: Statement<T[K]> | undefined },
): Promise<{ readonly [K in keyof T]: readonly T[K][] }> {
  const compiled = statements.map((statement) => statement?.compile(trx));
  // Kysely itself lets one statement at a time on the connection of a transaction.
  const results = await trx
    .getExecutor()
    .provideConnection((connection) => Promise.all(compiled.map((one) => one && connection.executeQuery(one))));
  // `as`: what the statements give, whoever wrote them knows; `map` forgets how many there are.
  return results.map((result) => result?.rows ?? []) as unknown as { readonly [K in keyof T]: readonly T[K][] };
}
