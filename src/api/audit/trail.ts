/**
 * The database as a call has it. It can write in transactions only, and each of them leaves events of the audit trail, so a
 * handler that changes something cannot forget to. docs/decisions/0623
 */
import { DeleteQueryNode, InsertQueryNode, type KyselyPlugin, type RootOperationNode, UpdateQueryNode } from 'kysely';
import type { Db } from '#db/open.ts';
import { addAuditEvents, takeNotedChanges } from '#db/tables/audit.ts';
import { withTransaction } from '#db/with-transaction.ts';
import type { AuditChange, AuditOccasion } from '#model/audit.ts';

/** Returns the database for calls; `query` refuses statements that write. */
export function readingOutside(db: Db): Db {
  return withTransaction(db, (work) => db.transaction(work), db.query.withPlugin(REFUSE_WRITES));
}

/**
 * `db`: one of `readingOutside`. Changes that a transaction has noted are its events. One that has noted nothing leaves
 * `asked`, unless an earlier one of the call has left an event.
 */
export function withTrail(db: Db, occasion: AuditOccasion, asked: () => AuditChange): Db {
  let isTold = false;
  return withTransaction(db, async (work) => {
    const { result, changes } = await db.transaction(async (trx) => {
      const result = await work(trx);
      const changes = takeNotedChanges(trx) ?? (isTold ? [] : [asked()]);
      await addAuditEvents(trx, occasion, changes);
      return { result, changes };
    });
    isTold ||= changes.length > 0;
    return result;
  });
}

const REFUSE_WRITES: KyselyPlugin = {
  transformQuery: ({ node }) => {
    if (isWrite(node)) throw new Error('a call writes outside of a transaction, where it would leave no audit event');
    return node;
  },
  transformResult: async ({ result }) => result,
};

function isWrite(node: RootOperationNode): boolean {
  return InsertQueryNode.is(node) || UpdateQueryNode.is(node) || DeleteQueryNode.is(node);
}
