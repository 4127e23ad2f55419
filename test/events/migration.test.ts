/** Events of the fleet of an earlier release, in the table of all events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { migrateTo } from '#db/migrations/migrations.ts';
import { openEngine } from '#db/open.ts';
import { listEvents } from '#db/tables/events/events.ts';
import { listFleetEvents } from '#db/tables/fleet/events.ts';
import { describeOnBothEngines, EMPTY } from '../support/db/databases.ts';
import { openTestDatabase, silentLog } from '../support/feed/feed.ts';

const BEFORE = [
  { at: 1000, edge: 'fra1', event: 'enrol', detail: 'token 3, from 192.0.2.1', actor: 'edge' },
  { at: 2000, edge: 'fra1', event: 'state', detail: 'ready → away', actor: 'control' },
  { at: 3000, edge: 'fra2', event: 'revoke', detail: 'it said "no"\n\\ 中文', actor: 'token:4' },
] as const;

describeOnBothEngines(
  'events of the release before',
  (newDatabase) => {
    test('events of the fleet stay in its list, in their order, and are in that of all events', async (t) => {
      const target = await newDatabase(t);
      {
        await using engine = await openEngine({ ...target, log: silentLog });
        await migrateTo(engine.query, engine.words, '0030-edge-states');
        for (const { at, edge, event, detail, actor } of BEFORE)
          await sql`
            insert into fleet_event (at, edge, event, detail, actor)
              values (${at}, ${edge}, ${event}, ${detail}, ${actor})`.execute(engine.query);
      }
      await using db = await openTestDatabase(target);
      const { total, events } = await listFleetEvents(db.query, { limit: 10, offset: 0 });
      assert.deepEqual([total, events], [3, BEFORE.toReversed()]);
      const { events: all } = await listEvents(db.query, { limit: 1, offset: 0 });
      assert.deepEqual(
        all.map(({ kind, target: about, accountId }) => [kind, about, accountId]),
        [['edge.revoke', { kind: 'edge', id: 'fra2', name: 'fra2' }, undefined]],
      );
    });
  },
  EMPTY,
);
