/** What concerns the fleet itself: published once, anew when it changes, and withdrawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFleet } from '#db/tables/fleet/authorities.ts';
import { readConfigHead, readResourceBody } from '#db/tables/resources.ts';
import { announceControls, announceFleetId } from '#fleet/announcements.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';

const C1 = 'https://c1.example.com:8710';
const C2 = 'https://c2.example.com:8710';

describeOnBothEngines('addresses of controls', (newDatabase) => {
  test('addresses of controls are published when they have changed', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const table: readonly (readonly [controls: readonly string[], revision: number, body: string | undefined])[] = [
      [[], 0, undefined],
      [[C1], 1, `{"controls":["${C1}"]}`],
      [[C1], 1, `{"controls":["${C1}"]}`],
      [[C1, C2], 2, `{"controls":["${C1}","${C2}"]}`],
      [[], 3, undefined],
      [[], 3, undefined],
    ];
    for (const [controls, revision, body] of table) {
      await announceControls(db, controls, 1);
      const head = await readConfigHead(db.query);
      const found = await readResourceBody(db.query, { kind: 'fleet', key: 'controls' });
      assert.deepEqual([head.revision, found], [revision, body], controls.join());
    }
  });

  test("the fleet's id is published once", async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    for (const now of [1, 2]) await announceFleetId(db, now);
    const { name } = await readFleet(db.query);
    const body = await readResourceBody(db.query, { kind: 'fleet', key: 'id' });
    assert.deepEqual([(await readConfigHead(db.query)).revision, body], [1, JSON.stringify({ id: name })]);
    assert.match(name, /^[0-9a-f]{8}$/);
  });
});
