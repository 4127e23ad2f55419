/** Conditions in the database: told once, also if two controls look at the same time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteConditions } from '#db/tables/events/conditions.ts';
import { listEvents } from '#db/tables/events/events.ts';
import type { Observation } from '#model/condition.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';

const NOW = 1_769_832_000_000;
const failing: Observation = {
  kind: 'backup',
  key: '3',
  accountId: 7,
  target: { kind: 'domain', id: '3', name: 'www.example.com' },
  level: 0,
  data: { hours: 50 },
};

describeOnBothEngines('conditions of events', (newDatabase) => {
  test('two controls that look at once tell one event, and a restart tells none', async (t) => {
    const target = await newDatabase(t);
    const controls = await Promise.all([openTestDatabase(target), openTestDatabase(target)]);
    t.after(() => Promise.all(controls.map((db) => db[Symbol.asyncDispose]())));
    const look = { kinds: ['backup'], owner: '', observed: [failing] } as const;
    const told = await Promise.all(controls.map((db) => db.transaction((trx) => noteConditions(trx, look, NOW))));
    assert.deepEqual(told.toSorted(), [0, 1]);
    const [db = assert.fail()] = controls;
    assert.equal(await db.transaction((trx) => noteConditions(trx, look, NOW + 5000)), 0);
    await db.transaction((trx) => noteConditions(trx, { ...look, observed: [] }, NOW + 9000));
    const { total, events } = await listEvents(db.query, { accountId: 7, limit: 10, offset: 0 });
    assert.equal(total, 2);
    assert.deepEqual(
      events.map(({ kind, severity, at }) => [kind, severity, at]),
      [
        ['backup.made', 'info', NOW + 9000],
        ['backup.late', 'warning', NOW],
      ],
    );
    assert.deepEqual((await listEvents(db.query, { accountId: 8, limit: 10, offset: 0 })).total, 0);
  });

  test('conditions of one machine are apart from those of another, and of other kinds', async (t) => {
    const db = await openTestDatabase(await newDatabase(t));
    t.after(() => db[Symbol.asyncDispose]());
    const full = { ...failing, accountId: undefined };
    const note = (owner: string, observed: readonly Observation[], now: number) =>
      db.transaction((trx) => noteConditions(trx, { kinds: ['backup'], owner, observed }, now));
    assert.equal(await note('a', [full], NOW), 1);
    assert.equal(await note('b', [full], NOW), 1);
    assert.equal(await note('b', [], NOW + 1), 1);
    assert.equal(await note('a', [full], NOW + 2), 0);
    await db.transaction((trx) => noteConditions(trx, { kinds: ['order'], owner: 'a', observed: [] }, NOW + 3));
    assert.equal((await db.query.selectFrom('event_condition').selectAll().execute()).length, 1);
  });
});
