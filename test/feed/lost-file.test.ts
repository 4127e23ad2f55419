/** An edge whose own file is taken away or spoilt while it runs: it notices, asks for everything anew, and says nothing before. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { listLiveEdges } from '#db/tables/edges.ts';
import type { StoredChange } from '#feed/client/confirmations.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { openSiteReader } from '#feed/store/edge-store.ts';
import { systemClock } from '#lib/clock.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, publishNow, putSite, silentLog, startTestEdge } from '../support/feed/feed.ts';
import { temporaryFolder } from '../support/temporary.ts';

const remove = (file: string) => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix);
};
const HARM: readonly (readonly [string, (file: string) => void])[] = [
  ['removed', remove],
  [
    'overwritten',
    (file) => {
      // What is in the WAL too would not be read from here, and do no harm.
      new DatabaseSync(file).exec('pragma wal_checkpoint(truncate)');
      writeFileSync(file, 'noise '.repeat(9000));
    },
  ],
  [
    'replaced',
    (file) => {
      remove(file);
      writeFileSync(file, 'noise '.repeat(9000));
    },
  ],
];

describeOnBothEngines('feed into a file that is lost', (newDatabase) => {
  for (const [name, harm] of HARM) {
    test(`a file that is ${name} is made anew, and workers read it before anything is acknowledged`, async (t) => {
      const folder = temporaryFolder(t);
      const socketPath = join(folder, 'feed.sock');
      await using db = await openTestDatabase(await newDatabase(t));
      await using _server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
      await publishNow(db, putSite(1, 'a.example.com'));
      const acknowledged = (revision: number) =>
        eventually(`revision ${revision} is acknowledged`, async () => {
          const [edge] = await listLiveEdges(db.query, systemClock());
          return edge?.appliedRevision === revision;
        });
      using reader = openSiteReader(join(folder, 'local.db'));
      const asked: StoredChange[] = [];
      await using edge = startTestEdge(folder, socketPath, {
        confirm: async (change) => {
          asked.push(change);
          assert.equal(reader.head()?.revision, change.revision);
        },
      });
      await eventually('it follows', () => edge.client.isConnected && edge.client.appliedRevision === 1);
      harm(edge.file);
      await publishNow(db, putSite(2, 'b.example.com'));
      await acknowledged(2);
      // It may notice before the change comes, and then has two things to ask for.
      const whole = asked.slice(1).filter(({ names }) => names === undefined);
      assert.deepEqual([whole.length, asked.at(-1)?.revision], [1, 2]);
      const before = asked.length;
      assert.deepEqual([edge.store.countSites(), reader.getSpec('a.example.com')?.spec.id], [2, 1]);
      harm(edge.file);
      await eventually('it notices without a change', () => asked.length > before && edge.store.countSites() === 2);
      assert.equal(reader.getSpec('b.example.com')?.spec.id, 2);
    });
  }
});
