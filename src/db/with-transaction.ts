/** A database whose transactions do something more. */
import type { Db } from './open.ts';

/** `db` with another `transaction`. Procedures do not run in its thread, as they would bypass that. */
export function withTransaction(db: Db, transaction: Db['transaction']): Db {
  return {
    engine: db.engine,
    clock: db.clock,
    query: db.query,
    lookUps: db.lookUps,
    compareClock: (ask) => db.compareClock(ask),
    snapshot: (work) => db.snapshot(work),
    onPublish: (listener) => db.onPublish(listener),
    onMessage: (listener) => db.onMessage(listener),
    tellControls: (message) => db.tellControls(message),
    transaction,
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
