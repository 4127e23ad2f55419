/** The feed from a transaction in the database to an edge's own file, over a real unix socket, on both engines. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Db } from '#db/open.ts';
import { listLiveEdges } from '#db/tables/edges.ts';
import { pruneHistory, readConfigHead } from '#db/tables/resources.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { openSiteReader } from '#feed/store/edge-store.ts';
import { systemClock } from '#lib/clock.ts';
import { describeOnBothEngines, newPostgres, newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import {
  openTestDatabase,
  publishNow,
  putSite,
  silentLog,
  startTestEdge,
  type TestEdge,
} from '../support/feed/feed.ts';
import { startRelay } from '../support/relay.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

describeOnBothEngines('feed', (newDatabase) => {
  test('sites that are added, changed and deleted reach the edge and are acknowledged', async (t) => {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'feed.sock');
    await using db = await openTestDatabase(await newDatabase(t));
    await using server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
    await publishNow(db, putSite(1, 'a.example.com'), putSite(2, 'b.example.com'));
    await using edge = startTestEdge(folder, socketPath);
    await acknowledged(db, 1);
    assert.equal(edge.store.countSites(), 2);

    await publishNow(db, putSite(3, '*.example.org'));
    await publishNow(db, putSite(1, 'a.example.com', 'other.example.net'), {
      kind: 'site',
      key: 'b.example.com',
      op: 'delete',
    });
    await acknowledged(db, 3);
    assert.equal(edge.store.getSpec('a.example.com')?.spec.origins.primary[0]?.host, 'other.example.net');
    assert.equal(edge.store.getSpec('a.example.com')?.revision, 3);
    assert.equal(edge.store.getSpec('b.example.com'), undefined);
    assert.equal(edge.store.getSpec('*.example.org')?.spec.id, 3);
    assert.equal(edge.client.appliedRevision, 3);
    assert.equal(server.connectedEdges, 1);
    assert.equal(server.headRevision, 3);
    using reader = openSiteReader(edge.file);
    assert.equal(reader.getSpec('*.example.org')?.spec.id, 3);
    await publishNow(db, putSite(4, 'c.example.org'));
    await acknowledged(db, 4);
    assert.equal(reader.getSpec('c.example.org')?.spec.id, 4);
  });

  test("a database with another epoch replaces the edge's set", async (t) => {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'feed.sock');
    await using db = await openTestDatabase(await newDatabase(t));
    await using _server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
    await publishNow(db, putSite(1, 'a.example.com'), putSite(2, 'b.example.com'));
    await using edge = startTestEdge(folder, socketPath);
    await acknowledged(db, 1);
    // A restore: fewer sites, a lower or equal revision, another epoch.
    await db.transaction(async (trx) => {
      await trx.deleteFrom('resource').where('key', '=', 'b.example.com').execute();
      await trx.updateTable('config_head').set({ epoch: 'another' }).execute();
    });
    await eventually('the edge has the other epoch', () => edge.store.head()?.epoch === 'another');
    assert.deepEqual([edge.store.countSites(), edge.store.getSpec('b.example.com')], [1, undefined]);
    await acknowledged(db, 1);
  });

  test('an edge that was away longer than deletions are kept takes a snapshot', async (t) => {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'feed.sock');
    await using db = await openTestDatabase(await newDatabase(t));
    await using _server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
    await publishNow(db, putSite(1, 'a.example.com'), putSite(2, 'b.example.com'));
    {
      await using _edge = startTestEdge(folder, socketPath);
      await acknowledged(db, 1);
    }
    await publishNow(db, { kind: 'site', key: 'a.example.com', op: 'delete' });
    await publishNow(db, putSite(3, 'c.example.com'));
    const inAMonth = systemClock() + 31 * 24 * 3600 * 1000;
    assert.equal(await db.transaction((trx) => pruneHistory(trx, inAMonth)), 1);
    await using edge = startTestEdge(folder, socketPath);
    await acknowledged(db, 3);
    assert.deepEqual([edge.store.countSites(), edge.store.getSpec('a.example.com')], [2, undefined]);
  });

  test('control is killed five times under writes: the edge ends identical to the database', async (t) => {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'feed.sock');
    await using db = await openTestDatabase(await newDatabase(t));
    await using edge = startTestEdge(folder, socketPath);
    let isWriting = true;
    const writing = (async () => {
      for (let n = 0; isWriting; n += 1) {
        const key = `d${n % 40}.example.com`;
        const isDelete = n % 7 === 6;
        await publishNow(db, isDelete ? { kind: 'site', key, op: 'delete' } : putSite(1 + (n % 40), key, `o${n}.net`));
        await setImmediate(); // SQLite answers without letting anyone else have a turn
      }
    })();
    for (let kills = 0; kills < 5; kills += 1) {
      await using _server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
      const { revision } = await readConfigHead(db.query);
      await eventually('the edge goes on', () => (edge.client.appliedRevision ?? 0) > revision);
    }
    isWriting = false;
    await writing;
    await using _server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
    const { revision } = await readConfigHead(db.query);
    await acknowledged(db, revision);
    await assertIdentical(db, edge);
  });

  test('a thousand sites arrive by snapshot, and hundreds of changes at once by several deltas', async (t) => {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'feed.sock');
    await using db = await openTestDatabase(await newDatabase(t));
    const sites = Array.from({ length: 1000 }, (_, n) => putSite(n + 1, `d${n}.example.com`));
    await publishNow(db, ...sites);
    await using _server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
    {
      await using edge = startTestEdge(folder, socketPath);
      await acknowledged(db, 1);
      await assertIdentical(db, edge);
    }
    for (let n = 0; n < 300; n += 1) await publishNow(db, putSite(n + 1, `d${n}.example.com`, 'moved.example.net'));
    await using edge = startTestEdge(folder, socketPath);
    await acknowledged(db, 301);
    await assertIdentical(db, edge);
  });
});

test('an outage of PostgreSQL delays changes only; they arrive when it is back', needs('postgres'), async (t) => {
  const target = await newPostgres(t);
  const folder = temporaryFolder(t);
  const socketPath = join(folder, 'feed.sock');
  await using direct = await openTestDatabase(target);
  await using relay = await startRelay(target.url ?? '');
  await using db = await openTestDatabase({ ...target, url: relay.url });
  await using _server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
  await publishNow(direct, putSite(1, 'a.example.com'));
  await using edge = startTestEdge(folder, socketPath);
  await acknowledged(direct, 1);
  relay.cut();
  await publishNow(direct, putSite(2, 'b.example.com'));
  await using late = startTestEdge(folder, socketPath, { edgeId: 'late' });
  await eventually('the late edge is put off', () => late.client.reconnects > 1);
  assert.equal(edge.store.head()?.revision, 1);
  relay.mend();
  await acknowledged(direct, 2);
  await eventually('the late edge has everything', () => late.client.appliedRevision === 2);
});

test('an edge that is killed five times while it stores ends identical to the database', async (t) => {
  const folder = temporaryFolder(t);
  const socketPath = join(folder, 'feed.sock');
  await using db = await openTestDatabase(await newSqlite(t));
  await using _server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
  let isWriting = true;
  const writing = (async () => {
    for (let n = 0; isWriting; n += 1) {
      await publishNow(db, putSite(1 + (n % 40), `d${n % 40}.example.com`, `o${n}.net`));
      await setImmediate();
    }
  })();
  const program = join(import.meta.dirname, '../support/feed/edge-process.ts');
  for (let kills = 0; kills < 5; kills += 1) {
    const { revision } = await readConfigHead(db.query);
    const child = spawn(process.execPath, [program, folder, socketPath], { stdio: ['ignore', 'inherit', 'inherit'] });
    const left = once(child, 'exit');
    await eventually('the edge goes on', async () => {
      const [status] = await listLiveEdges(db.query, systemClock());
      return (status?.appliedRevision ?? 0) > revision;
    });
    child.kill('SIGKILL');
    await left;
  }
  isWriting = false;
  await writing;
  const edge = startTestEdge(folder, socketPath, {
    onMoved: () => assert.fail('the file of a killed edge was taken for damaged'),
  });
  t.after(() => edge[Symbol.asyncDispose]());
  await acknowledged(db, (await readConfigHead(db.query)).revision);
  await assertIdentical(db, edge);
});

/** Waits until the edge 'local' has reported this revision of this epoch. */
async function acknowledged(db: Db, revision: number): Promise<void> {
  await eventually(`revision ${revision} is acknowledged`, async () => {
    const edges = await listLiveEdges(db.query, systemClock());
    const edge = edges.find((report) => report.edge === 'local');
    return edge?.appliedRevision === revision;
  });
}

async function assertIdentical(db: Db, { store }: TestEdge): Promise<void> {
  const rows = await db.query.selectFrom('resource').selectAll().where('deleted', '=', 0).execute();
  assert.equal(store.countSites(), rows.length);
  for (const { key, body, revision } of rows) {
    assert.deepEqual(store.getSpec(key), { spec: JSON.parse(body), revision });
  }
}
