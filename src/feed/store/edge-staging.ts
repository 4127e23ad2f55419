/**
 * Writes a snapshot into an edge's file: collects it in a temporary table, then puts it in place in one transaction.
 */
import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '#lib/sqlite-file.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { SnapshotHead } from '../wire/protocol.ts';
import type { StoreChange } from './edge-file.ts';

export interface SnapshotStaging extends Disposable {
  /** Adds a resource. Throws if it was added already. */
  add(change: Exclude<StoreChange, { readonly kind: 'delete' }>): void;
  /**
   * Replaces the current set by the collected one. A rejected resource keeps its previous version; resources that are
   * not in the snapshot are deleted. A purge keeps the instant at which it was applied here; a new one is stamped with
   * `now`. If the snapshot does not continue the history of the current set, all purges are new.
   */
  commit(head: FeedPosition & Pick<SnapshotHead, 'continues' | 'view'>, now: number): void;
}

const DEPART = `
  insert or replace into departed_site (key, left_at) select key, ? from resource
    where kind = 'site' and not exists (select 1 from staged where staged.kind = 'site' and staged.key = resource.key)
`;

const PUT_IN_PLACE = `
  delete from departed_site where key in (select key from staged where kind = 'site');
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

/** Clears all stamps: in another history, a key may be that of another purge, so all are applied again. */
const FORGET_OTHER_HISTORY = 'delete from stamp; delete from prefetched;';

/**
 * Creates a staging, one at a time per connection. Its table is in a temporary file, so a large snapshot costs no
 * memory.
 */
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
    commit({ epoch, revision, tag, view, continues }, now) {
      inTransaction(database, () => {
        database.prepare(DEPART).run(now);
        database.exec(PUT_IN_PLACE);
        if (!continues) database.exec(FORGET_OTHER_HISTORY);
        database.prepare(STAMP_NEW).run(now);
        database
          .prepare('insert or replace into head (id, epoch, revision, tag) values (1, ?, ?, ?)')
          .run(epoch, revision, tag);
        database.exec('delete from feed_view');
        if (view !== undefined) database.prepare('insert into feed_view (id, view) values (1, ?)').run(view);
      });
    },
    [Symbol.dispose]() {
      if (database.isOpen) database.exec('drop table if exists temp.staged'); // otherwise it is gone with the connection
    },
  };
}
