/** A change that is only tried. docs/decisions/0685 */
import type { Transaction } from 'kysely';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import { withTransaction } from '#db/with-transaction.ts';

/** `db` with transactions that do everything but commit, so that whatever would be refused is refused. */
export function rollingBack(db: Db): Db {
  const rollBack = new Error('a change was only tried');
  return withTransaction(db, async <R>(work: (trx: Transaction<Schema>) => Promise<R>): Promise<R> => {
    const results: R[] = [];
    const trying = db.transaction(async (trx) => {
      results.push(await work(trx));
      throw rollBack;
    });
    await trying.catch((error: unknown) => {
      if (error !== rollBack) throw error;
    });
    return results.at(-1) as R; // there is one: only then `rollBack` is thrown
  });
}
