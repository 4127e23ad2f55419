/** Revisions, deltas and tombstones in the database, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Db } from '#db/open.ts';
import { listLiveEdges, recordEdgeStatus } from '#db/tables/edges.ts';
import { allResources, changesSince, pruneHistory, publish, readConfigHead } from '#db/tables/resources.ts';
import { isInHistory } from '#db/tables/revision-tags.ts';
import type { EdgeStatus } from '#model/edge.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase, publishNow, putSite } from '../support/feed/feed.ts';

const DAY_MS = 24 * 3600 * 1000;

describeOnBothEngines('resources', (newDatabase) => {
  test('a reader by revision misses none of 2,400 concurrent changes', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const seen = new Set<string>();
    let isWriting = true;
    const reading = (async () => {
      let from = 0;
      for (;;) {
        const wasWriting = isWriting;
        const { revision } = await readConfigHead(db.query);
        while (from < revision) {
          const delta = await changesSince(db.query, { from, to: revision, limit: 100 });
          for (const { key } of delta.rows) seen.add(key);
          from = delta.to;
        }
        if (!wasWriting) return from;
        await setImmediate();
      }
    })();
    // 24 writers, each its own keys; some hold their transaction open between publish and commit.
    const writers = Array.from({ length: 24 }, async (_, writer) => {
      for (let n = 0; n < 100; n += 1) {
        const key = `d${n}.w${writer}.example.com`;
        await db.transaction(async (trx) => {
          await publish(trx, [putSite(n + 1, key)], 1);
          if (n % 10 === writer % 10) await setImmediate();
        });
      }
    });
    await Promise.all(writers);
    isWriting = false;
    assert.equal(await reading, 2400);
    assert.equal(seen.size, 2400);
  });

  test('changes are read by revision, newest state only, whole revisions up to the limit', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    await publishNow(db, putSite(1, 'a.example.com'), putSite(2, 'b.example.com'));
    await publishNow(db, putSite(3, 'c.example.com'));
    await publishNow(db, { kind: 'site', key: 'a.example.com', op: 'delete' });
    await publishNow(db, putSite(4, 'd.example.com'), putSite(5, 'e.example.com'), putSite(6, 'f.example.com'));
    /** Rows: from, to, limit → complete to, changes. */
    const table = [
      [0, 4, 100, 4, 'b@1 c@2 -a@3 d@4 e@4 f@4'],
      [0, 4, 1, 1, 'b@1'],
      [0, 4, 3, 3, 'b@1 c@2 -a@3'],
      [0, 4, 5, 3, 'b@1 c@2 -a@3'],
      [0, 4, 6, 4, 'b@1 c@2 -a@3 d@4 e@4 f@4'],
      [3, 4, 1, 4, 'd@4 e@4 f@4'],
      [1, 2, 100, 2, 'c@2'],
      [4, 4, 100, 4, ''],
    ] as const;
    for (const [from, to, limit, expectedTo, expected] of table) {
      const delta = await changesSince(db.query, { from, to, limit });
      const found = delta.rows.map((row) => `${row.isDeleted ? '-' : ''}${row.key[0]}@${row.revision}`).join(' ');
      assert.deepEqual([delta.to, found], [expectedTo, expected], `${from}…${to}, ${limit}`);
    }
    assert.deepEqual(await everything(db, 2), ['b', 'c', 'd', 'e', 'f']);
    assert.deepEqual(await everything(db, 5), ['b', 'c', 'd', 'e', 'f']);
    assert.deepEqual(await everything(db, 100), ['b', 'c', 'd', 'e', 'f']);
  });

  test('deletions are forgotten after 30 days, and the lowest revision that can follow rises with them', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const at = (now: number, ...changes: Parameters<typeof publish>[1]) =>
      db.transaction((trx) => publish(trx, changes, now));
    await at(0, putSite(1, 'a.example.com'), putSite(2, 'b.example.com'));
    await at(1 * DAY_MS, { kind: 'site', key: 'a.example.com', op: 'delete' });
    await at(2 * DAY_MS, { kind: 'site', key: 'b.example.com', op: 'delete' });
    const prune = (now: number) => db.transaction((trx) => pruneHistory(trx, now));
    assert.equal(await prune(31 * DAY_MS), 0);
    assert.equal((await readConfigHead(db.query)).minRevision, 0);
    assert.equal(await prune(31 * DAY_MS + 1), 1);
    assert.equal((await readConfigHead(db.query)).minRevision, 2);
    assert.equal(await prune(99 * DAY_MS), 1);
    assert.deepEqual(await readConfigHead(db.query), {
      ...(await readConfigHead(db.query)),
      revision: 3,
      minRevision: 3,
    });
  });

  test('each revision has a tag of its own, forgotten after 30 days but for the newest', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const places = [await readConfigHead(db.query)];
    for (const day of [1, 2, 3]) {
      await db.transaction((trx) => publish(trx, [putSite(1, 'a.example.com')], day * DAY_MS));
      places.push(await readConfigHead(db.query));
    }
    const known = () => Promise.all(places.map((place) => isInHistory(db.query, place)));
    assert.deepEqual([new Set(places.map(({ tag }) => tag)).size, await known()], [4, [true, true, true, true]]);
    const prune = (now: number) => db.transaction((trx) => pruneHistory(trx, now));
    await prune(32 * DAY_MS);
    assert.deepEqual(await known(), [false, false, true, true]);
    await prune(99 * DAY_MS);
    assert.deepEqual(await known(), [false, false, false, true]);
  });

  test('an edge is live for 30 s after its report; a report of another history acknowledges nothing', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const at = await readConfigHead(db.query);
    const rejected = [{ kind: 'site', key: 'a.example.com', revision: 3, error: 'ungültig "\n' }];
    const origins = [{ key: 'o.example:80', state: 'down' }] as const;
    const status = { at, appliedRevision: 7, rejected, build: 'b', startedAt: 5, origins };
    const record = (edge: string, now: number, change: Partial<EdgeStatus> = {}) =>
      recordEdgeStatus(db.query, { ...status, edge, ...change }, now);
    assert.equal(await record('one', 1000), 'recorded');
    assert.equal(await record('one', 2000, { appliedRevision: 8 }), 'recorded');
    for (const [n, other] of [{ epoch: 'other' }, { tag: 'other' }, { revision: at.revision + 1 }].entries()) {
      assert.equal(await record('two', 2998 + n, { at: { ...at, ...other } }), 'unknownPlace');
    }
    const shown = (edge: string, appliedRevision: number, reportedAt: number) => {
      return { edge, appliedRevision, rejected, build: 'b', startedAt: 5, reportedAt, origins, hold: 'ready' };
    };
    assert.deepEqual(await listLiveEdges(db.query, 31_999), [shown('one', 8, 2000), shown('two', 0, 3000)]);
    assert.deepEqual(await listLiveEdges(db.query, 32_000), [shown('two', 0, 3000)]);
    assert.deepEqual(await listLiveEdges(db.query, 33_000), []);
  });
});

describeOnBothEngines('edges', (newDatabase) => {
  test('the later of two instances with one id counts, until it is silent for 30 s', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const at = await readConfigHead(db.query);
    const status = { edge: 'one', at, appliedRevision: 0, rejected: [], build: 'b', origins: [] };
    const HOUR_MS = 3600 * 1000;
    /** Rows: time, start of the instance → outcome, instance whose report counts then. */
    const table = [
      [1000, 10, 'recorded', 10],
      [2000, 20, 'recorded', 20],
      [3000, 10, 'superseded', 20],
      [4000, 20, 'recorded', 20],
      [33_999, 10, 'superseded', 20],
      [34_000, 10, 'recorded', 10],
      [34_001, 20, 'recorded', 20],
      [34_001 - HOUR_MS, 10, 'recorded', 10],
    ] as const;
    for (const [now, startedAt, expected, counts] of table) {
      assert.equal(await recordEdgeStatus(db.query, { ...status, startedAt }, now), expected, `${startedAt} at ${now}`);
      assert.deepEqual(
        (await listLiveEdges(db.query, now)).map((edge) => edge.startedAt),
        [counts],
        `${startedAt} at ${now}`,
      );
    }
  });
});

async function everything(db: Db, pageSize: number): Promise<readonly (string | undefined)[]> {
  return await db.snapshot(async (x) => {
    const keys = [];
    for await (const rows of allResources(x, pageSize)) keys.push(...rows.map(({ key }) => key[0]));
    return keys;
  });
}
