/** Procedures for tests, as the thread of SQLite loads them. */
import { sql, type Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';

export const PROCEDURES_OF_TESTS = new URL(import.meta.url);

export function createProcedures() {
  let calls = 0;
  return {
    /** Gives how often it was called, and how many accounts there were. */
    addAccount: async (trx: Transaction<Schema>, { name, kind }: { readonly name: string; readonly kind: string }) => {
      const { accounts } = await trx
        .selectFrom('account')
        .select((e) => e.fn.countAll<number>().as('accounts'))
        .executeTakeFirstOrThrow();
      await sql`insert into account (name, kind, created_at) values (${name}, 'customer', 1)`.execute(trx);
      await sql`insert into account (name, kind, created_at) values (${name}, ${kind}, 1)`.execute(trx);
      calls += 1;
      return { calls, accounts };
    },
  };
}
