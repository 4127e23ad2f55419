/** A database whose transactions do something more. */
import type { Db } from './open.ts';
import type { Executor } from './schema/schema.ts';

/**
 * `db` with another `transaction`, and perhaps another `query`. Procedures do not run in its thread, as they would
 * bypass that.
 */
export function withTransaction(db: Db, transaction: Db['transaction'], query: Db['query'] = db.query): Db {
  return new OtherTransactions(db, transaction, query);
}

/** A class, since every call that may change something makes one: as an object of closures it costs ten allocations. */
class OtherTransactions implements Db {
  readonly transaction: Db['transaction'];
  readonly query: Db['query'];
  readonly #db: Db;

  constructor(db: Db, transaction: Db['transaction'], query: Db['query']) {
    this.#db = db;
    this.transaction = transaction;
    this.query = query;
  }

  get engine(): Db['engine'] {
    return this.#db.engine;
  }

  get clock(): Db['clock'] {
    return this.#db.clock;
  }

  get lookUps(): Db['lookUps'] {
    return this.#db.lookUps;
  }

  compareClock(ask: () => Promise<number>): Promise<number> {
    return this.#db.compareClock(ask);
  }

  snapshot<T>(work: (x: Executor) => Promise<T>): Promise<T> {
    return this.#db.snapshot(work);
  }

  onPublish(listener: () => void): () => void {
    return this.#db.onPublish(listener);
  }

  onMessage(listener: (message: string) => void): () => void {
    return this.#db.onMessage(listener);
  }

  tellControls(message: string): Promise<void> {
    return this.#db.tellControls(message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#db[Symbol.asyncDispose]();
  }
}
