/** A snapshot on its way into an edge's file: collected in a temporary table, then put in place in one transaction. */
import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '#lib/sqlite-file.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { StoreChange } from './edge-file.ts';

export interface SnapshotStaging extends Disposable {
  /** Throws when the resource is there already. */
  add(change: Exclude<StoreChange, { readonly kind: 'delete' }>): void;
  /**
   * Makes the collected set the present one. What it refuses keeps its last version here, what it does not name is
   * forgotten. A purge keeps the instant at which it was applied here; one that is new here is stamped with `now`. When the
   * set does not continue the history of the present one, all are new.
   */
  commit(head: FeedPosition & { readonly continues: boolean }, now: number): void;
}

const PUT_IN_PLACE = `
  delete from resource
    where not exists (select 1 from staged where staged.kind = resource.kind and staged.key = resource.key);
  insert or replace into resource (kind, key, revision, body)
    select kind, key, revision, body from staged where error is null;
  delete from rejection;
  insert into rejection (kind, key, revision, error)
    select kind, key, revision, error from staged where error is not null;
  delete from stamp where key not in (select key from resource where kind = 'purge');
  delete from prefetched where key not in (select key from resource where kind = 'prefetch');
`;

const STAMP_NEW = "insert or ignore into stamp (key, applied_at) select key, ? from resource where kind = 'purge'";

/** Another history may give the same key to another purge: all are applied anew. */
const FORGET_OTHER_HISTORY = 'delete from stamp; delete from prefetched;';

/** One at a time per connection. The table lies in a temporary file, so a large snapshot costs no memory. */
export function createStaging(database: DatabaseSync): SnapshotStaging {
  database.exec(`
    drop table if exists temp.staged;
    create temp table staged (
      kind text not null, key text not null, revision integer not null, body text, error text, primary key (kind, key)
    ) strict, without rowid;
  `);
  const insert = database.prepare('insert into staged (kind, key, revision, body, error) values (?, ?, ?, ?, ?)');
  return {
    add(change) {
      const body = change.kind === 'put' ? change.body : null;
      const error = change.kind === 'reject' ? change.error : null;
      insert.run(change.resource, change.key, change.revision, body, error);
    },
    commit({ epoch, revision, tag, continues }, now) {
      inTransaction(database, () => {
        database.exec(PUT_IN_PLACE);
        if (!continues) database.exec(FORGET_OTHER_HISTORY);
        database.prepare(STAMP_NEW).run(now);
        database
          .prepare('insert or replace into head (id, epoch, revision, tag) values (1, ?, ?, ?)')
          .run(epoch, revision, tag);
      });
    },
    [Symbol.dispose]() {
      if (database.isOpen) database.exec('drop table if exists temp.staged'); // else it went with the connection
    },
  };
}
