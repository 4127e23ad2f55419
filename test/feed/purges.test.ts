/** Purges on their way to an edge: stamped once, by its own clock, whatever happens afterwards. On both engines. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { insertPurges } from '#db/tables/purges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import type { StoredChange } from '#feed/client/confirmations.ts';
import { tidy } from '#feed/server/housekeeping.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { openSiteReader } from '#feed/store/edge-store.ts';
import { systemClock } from '#lib/clock.ts';
import type { SitePurge } from '#sites/purge.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, publishNow, putPurge, putSite, silentLog, startTestEdge } from '../support/feed/feed.ts';
import { temporaryFolder } from '../support/temporary.ts';

const DAY_MS = 24 * 3600 * 1000;
const WHOLE = { kind: 'site', target: '' } as const;
const OBJECT = { kind: 'url', target: 'a.example.com/x' } as const;

describeOnBothEngines('purges on the feed', (newDatabase) => {
  test('a purge is stamped when the edge applies it, and keeps the stamp through restart and snapshot', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    await publishNow(feed.db, putSite(1, 'a.example.com'), putSite(10, 'b.example.com'));
    const seen: StoredChange[] = [];
    const confirm = async (change: StoredChange) => void seen.push(change);
    {
      await using edge = startTestEdge(feed.folder, feed.socketPath, { clock: () => 1000, confirm });
      await feed.reached(edge.client);
      await publishNow(feed.db, putPurge(1, '5-0', OBJECT));
      await feed.reached(edge.client);
      assert.deepEqual(edge.store.purgesOf(1), [{ ...OBJECT, appliedAt: 1000 }]);
      assert.deepEqual(edge.store.purgesOf(10), [], 'the site whose id begins alike has none');
      assert.deepEqual(seen.at(-1), { revision: 2, names: ['a.example.com'] }, 'workers read that site anew');
    }
    // The first is told once more, as after a lost acknowledgement.
    await publishNow(feed.db, putPurge(1, '5-0', OBJECT), putPurge(1, '6-0', WHOLE));
    {
      // It was away; what it finds is applied now.
      await using edge = startTestEdge(feed.folder, feed.socketPath, { clock: () => 2000 });
      await feed.reached(edge.client);
      assert.deepEqual(sorted(edge.store.purgesOf(1)), [
        { ...OBJECT, appliedAt: 1000 },
        { ...WHOLE, appliedAt: 2000 },
      ]);
      using reader = openSiteReader(edge.file);
      assert.deepEqual(sorted(reader.purgesOf(1)), sorted(edge.store.purgesOf(1)));
    }
    await publishNow(feed.db, putPurge(10, '7-0', WHOLE, 'b.example.com'));
    // Changes alone do not do any more.
    await feed.db.query.updateTable('config_head').set({ min_revision: 4 }).execute();
    await using edge = startTestEdge(feed.folder, feed.socketPath, { clock: () => 3000 });
    await feed.reached(edge.client);
    assert.deepEqual(sorted([...edge.store.purgesOf(1), ...edge.store.purgesOf(10)]), [
      { ...OBJECT, appliedAt: 1000 },
      { ...WHOLE, appliedAt: 2000 },
      { ...WHOLE, appliedAt: 3000 },
    ]);
  });

  test('a purge that replaces others arrives with their end: nothing is uncovered in between', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    await publishNow(feed.db, putSite(1, 'a.example.com'), putPurge(1, '1-0', OBJECT), putPurge(1, '1-1', WHOLE));
    let now = 1000;
    const seen: (readonly SitePurge[])[] = [];
    await using edge = startTestEdge(feed.folder, feed.socketPath, {
      clock: () => now,
      confirm: async () => void seen.push(sorted(openSiteReader(join(feed.folder, 'local.db')).purgesOf(1))),
    });
    await feed.reached(edge.client);
    now = 2000;
    const gone = (key: string) => ({ kind: 'purge', key, op: 'delete' }) as const;
    await publishNow(feed.db, gone('1:1-0'), gone('1:1-1'), putPurge(1, '2-0', WHOLE));
    await feed.reached(edge.client);
    assert.deepEqual(seen, [
      [
        { ...OBJECT, appliedAt: 1000 },
        { ...WHOLE, appliedAt: 1000 },
      ],
      [{ ...WHOLE, appliedAt: 2000 }],
    ]);
    assert.deepEqual(stampsIn(edge.file), ['1:2-0'], 'no stamp is left behind');
  });

  test('a restored database may give an old number to a new purge: all are applied anew', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    await publishNow(feed.db, putSite(1, 'a.example.com'), putPurge(1, '1-0', OBJECT));
    {
      await using edge = startTestEdge(feed.folder, feed.socketPath, { clock: () => 1000 });
      await feed.reached(edge.client);
    }
    await feed.db.query.updateTable('config_head').set({ epoch: 'another' }).execute();
    await using edge = startTestEdge(feed.folder, feed.socketPath, { clock: () => 2000 });
    await eventually('the edge has the other epoch', () => edge.store.head()?.epoch === 'another');
    assert.deepEqual(edge.store.purgesOf(1), [{ ...OBJECT, appliedAt: 2000 }]);
  });

  test('a purge that an edge cannot read is refused by its key, and the others apply', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const bad = [
      { siteId: 2, site: 'a.example.com', kind: 'url', target: '' },
      { siteId: 1, kind: 'url', target: '' },
      { siteId: 1, site: 'a.example.com', kind: 'regex', target: '' },
      { siteId: 1, site: 'a.example.com', kind: 'url' },
      null,
      7,
    ];
    const changes = bad.map((body, n) => ({ kind: 'purge', key: `1:3-${n}`, op: 'put', body }) as const);
    await publishNow(feed.db, ...changes, putPurge(1, '4-0', OBJECT));
    await using edge = startTestEdge(feed.folder, feed.socketPath, { clock: () => 1000 });
    await feed.reached(edge.client);
    assert.deepEqual(
      edge.store.listRejections(10).map(({ key, error }) => [key, error.split(':')[0]]),
      [
        ['1:3-0', 'siteId'],
        ['1:3-1', 'site'],
        ['1:3-2', 'kind'],
        ['1:3-3', 'target'],
        ['1:3-4', 'siteId'],
        ['1:3-5', 'siteId'],
      ],
    );
    assert.deepEqual(edge.store.purgesOf(1), [{ ...OBJECT, appliedAt: 1000 }]);
  });

  test('control deletes a purge after 31 days, and edges with it', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    await publishNow(feed.db, putSite(1, 'a.example.com'), putPurge(1, '1-0', OBJECT), putPurge(1, '2-0', WHOLE));
    const made = (key: string, at: number) =>
      feed.db.transaction((trx) => insertPurges(trx, [{ key, siteId: 1, ...OBJECT }], at));
    await made('1:1-0', 1000);
    await made('1:2-0', 1001);
    await using edge = startTestEdge(feed.folder, feed.socketPath);
    await feed.reached(edge.client);
    await tidy(feed.db, 1000 + 31 * DAY_MS);
    assert.equal((await readConfigHead(feed.db.query)).revision, 1);
    await tidy(feed.db, 1001 + 31 * DAY_MS);
    await feed.reached(edge.client);
    assert.deepEqual(
      edge.store.purgesOf(1).map(({ kind }) => kind),
      ['site'],
    );
    assert.deepEqual(stampsIn(edge.file), ['1:2-0']);
  });
});

/** Control's side, and a way to wait until an edge runs what it publishes. */
async function startFeed(t: Parameters<NewDatabase>[0], newDatabase: NewDatabase) {
  const folder = temporaryFolder(t);
  const socketPath = join(folder, 'feed.sock');
  const db: Db = await openTestDatabase(await newDatabase(t));
  const server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
  return {
    folder,
    socketPath,
    db,
    async reached(client: { readonly appliedRevision: number | undefined }) {
      const { revision } = await readConfigHead(db.query);
      await eventually(`the edge runs revision ${revision}`, () => client.appliedRevision === revision);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

function sorted(purges: readonly SitePurge[]): readonly SitePurge[] {
  return purges.toSorted((a, b) => a.appliedAt - b.appliedAt || b.target.localeCompare(a.target));
}

function stampsIn(file: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare('select key from stamp order by key')
      .all()
      .map(({ key }) => key);
  } finally {
    database.close();
  }
}
