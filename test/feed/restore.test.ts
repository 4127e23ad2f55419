/** A database that is put back to an earlier state and counts on from there: edges notice and take over what it has. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { listLiveEdges } from '#db/tables/edges.ts';
import { type Change, publish, readConfigHead } from '#db/tables/resources.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { systemClock } from '#lib/clock.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import {
  openTestDatabase,
  publishNow,
  putPurge,
  putSite,
  silentLog,
  startTestEdge,
  type TestEdge,
} from '../support/feed/feed.ts';
import { temporaryFolder } from '../support/temporary.ts';

const TABLES = ['config_head', 'revision_tag', 'resource'] as const;
const WHOLE = { kind: 'site', target: '' } as const;

describeOnBothEngines('feed of a restored database', (newDatabase) => {
  test('an edge that was away while its revision was issued again takes the present one', async (t) => {
    await using feed = await prepare(t, newDatabase);
    const { db } = feed;
    {
      await using _server = await feed.startServer();
      await using edge = startTestEdge(feed.folder, feed.socketPath, { clock: () => 1000 });
      await publishNow(db, putSite(1, 'a.example.com', 'lost.example.net'));
      await publishNow(db, putSite(2, 'lost.example.com'), putPurge(1, '1-0', WHOLE));
      await feed.acknowledged(edge);
      assert.equal(edge.store.purgesOf(1)[0]?.appliedAt, 1000);
    }
    await feed.restore();
    await publishNow(db, putSite(2, 'b.example.com'));
    await publishNow(db, putPurge(1, '1-0', WHOLE));
    await using _server = await feed.startServer();
    await using edge = startTestEdge(feed.folder, feed.socketPath, { clock: () => 2000 });
    await feed.acknowledged(edge);
    const hosts = ['a', 'b', 'lost'].map(
      (name) => edge.store.getSpec(`${name}.example.com`)?.spec.origins.primary[0]?.host,
    );
    assert.deepEqual(hosts, ['origin.example.com', 'origin.example.com', undefined]);
    // The same key, revision and scope as the one that was lost, and another purge all the same.
    assert.deepEqual(edge.store.purgesOf(1), [{ ...WHOLE, appliedAt: 2000 }]);
  });

  for (const [name, changes] of [
    ['a lower revision', []],
    ['the same revision', [putSite(2, 'b.example.com')]],
    ['a higher revision', [putSite(2, 'b.example.com'), putSite(3, 'c.example.com')]],
  ] as const satisfies readonly (readonly [string, readonly Change[]])[]) {
    test(`an edge on an open stream notices a restored database at ${name}`, async (t) => {
      await using feed = await prepare(t, newDatabase);
      await using _server = await feed.startServer();
      await using edge = startTestEdge(feed.folder, feed.socketPath);
      await publishNow(feed.db, putSite(2, 'lost.example.com'));
      await feed.acknowledged(edge);
      await feed.restore(changes);
      await feed.acknowledged(edge);
      const names = ['a', 'b', 'c', 'lost'].filter((label) => edge.store.getSpec(`${label}.example.com`) !== undefined);
      assert.deepEqual(names, ['a', 'b', 'c'].slice(0, 1 + changes.length));
    });
  }
});

/** A database at revision 1, whose state is what `restore` puts back. */
async function prepare(t: Parameters<NewDatabase>[0], newDatabase: NewDatabase) {
  const folder = temporaryFolder(t);
  const socketPath = join(folder, 'feed.sock');
  const db: Db = await openTestDatabase(await newDatabase(t));
  await publishNow(db, putSite(1, 'a.example.com'));
  const copy = await Promise.all(TABLES.map((table) => db.query.selectFrom(table).selectAll().execute()));
  return {
    folder,
    socketPath,
    db,
    startServer: () => startFeedServer({ db, socketPath, clock: systemClock, log: silentLog }),
    /** And publishes `changes` before anyone can look. */
    restore: (changes: readonly Change[] = []) =>
      db.transaction(async (trx) => {
        for (const [n, table] of TABLES.entries()) {
          await trx.deleteFrom(table).execute();
          await trx
            .insertInto(table)
            .values(copy[n] ?? [])
            .execute();
        }
        for (const change of changes) await publish(trx, [change], systemClock());
      }),
    /** Waits until the edge has the newest position and control knows it. */
    async acknowledged({ store }: TestEdge) {
      const { revision, tag } = await readConfigHead(db.query);
      await eventually('the edge is at the newest place', () => store.head()?.tag === tag);
      await eventually(`revision ${revision} is acknowledged`, async () => {
        const [edge] = await listLiveEdges(db.query, systemClock());
        return edge?.appliedRevision === revision;
      });
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
