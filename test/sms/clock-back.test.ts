/** A clock that was ahead and is put right: nothing that was accepted, retried or leased meanwhile waits longer for it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Db } from '#db/open.ts';
import { queueDeliveries, saveWebhook } from '#db/tables/sms/deliveries.ts';
import { bringBackInstants } from '#sms/clock-back.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { openEngineWorld, untilStates } from '../support/sms/engine-world.ts';
import { openSmsAccount, openSmsDatabase, queueMessage, readParts, testRing } from '../support/sms/sms-queue.ts';
import { accepted, claim, receive, store } from '../support/sms/sms-steps.ts';

const HOUR_MS = 3_600_000;
const EVENING = Date.UTC(2026, 0, 31, 13);

function bringBack(db: Db, now: number) {
  return bringBackInstants({ db, clock: () => now }, new AbortController().signal);
}

describeOnBothEngines('after a clock was put back', (newDatabase) => {
  const open = async (t: TestContext, create: NewDatabase) => await openSmsDatabase(await create(t));

  test('a part without hours is due at once after a clock was put back, a retry after its longest delay, each with its own expiry', async (t) => {
    await using db = await open(t, newDatabase);
    const account = await openSmsAccount(db, { now: EVENING });
    const other = await openSmsAccount(db, { now: EVENING });
    const ahead = (ms: number) => ({ now: EVENING + ms, expireAt: EVENING + ms + 500 });
    const rows = [
      [await queueMessage(db, account, ahead(HOUR_MS)), 0],
      [await queueMessage(db, account, ahead(60_000)), 0],
      [await queueMessage(db, account, ahead(500)), 500],
      [await queueMessage(db, account, { ...ahead(HOUR_MS), kind: 'advertising' }), 0],
      [await queueMessage(db, account, { ...ahead(HOUR_MS), route: '+852' }), 0],
      [await queueMessage(db, other, ahead(HOUR_MS)), 0],
      [await queueMessage(db, other, ahead(-HOUR_MS)), -HOUR_MS],
    ] as const;
    const [retry = 0, late = 0] = await queueMessage(db, other, { texts: ['soon', 'late'], now: EVENING });
    const tried = (id: number, dueAt: number) =>
      db.query.updateTable('sms_part').set({ tries: 1, due_at: dueAt }).where('id', '=', id).execute();
    await tried(retry, EVENING + 299_000);
    await tried(late, EVENING + 400_000);
    assert.deepEqual(await bringBack(db, EVENING), { parts: 6, others: 0 });
    const after = new Map((await readParts(db)).map((part) => [part.id, part]));
    for (const [[id = 0], due] of rows) {
      assert.equal(after.get(id)?.due_at, EVENING + due);
      assert.equal(after.get(id)?.expire_at, EVENING + due + 500);
    }
    assert.deepEqual([after.get(retry)?.due_at, after.get(late)?.due_at], [EVENING + 299_000, EVENING]);
    assert.deepEqual(await bringBack(db, EVENING), { parts: 0, others: 0 }, 'once');
  });

  test('a part that waits for its hours keeps its instant, unless no hours are so far away', async (t) => {
    await using db = await open(t, newDatabase);
    const account = await openSmsAccount(db, { now: EVENING });
    const opening = EVENING + 11 * HOUR_MS;
    const [, , tried = 0] = [
      ...(await queueMessage(db, account, { kind: 'advertising', dueAt: opening, now: EVENING })),
      ...(await queueMessage(db, account, { dueAt: opening, now: EVENING })),
      ...(await queueMessage(db, account, { kind: 'advertising', dueAt: opening, now: EVENING })),
    ];
    await db.query.updateTable('sms_part').set({ tries: 1 }).where('id', '=', tried).execute();
    const due = async () => (await readParts(db)).map(({ due_at }) => due_at);
    await bringBack(db, EVENING - HOUR_MS);
    assert.deepEqual(await due(), [opening, opening, opening]);
    await bringBack(db, EVENING - 48 * HOUR_MS);
    assert.deepEqual(await due(), [opening, opening, EVENING - 48 * HOUR_MS]);
  });

  test('leases end in time after a clock was put back; receipts find parts of the wrong clock; webhooks are posted', async (t) => {
    await using db = await open(t, newDatabase);
    const account = await openSmsAccount(db, { now: EVENING });
    const wrong = EVENING + HOUR_MS;
    const [leased = 0, taken = 0] = await queueMessage(db, account, { texts: ['1', '2'], now: wrong });
    await claim(db, { now: wrong, leaseUntil: wrong + 6_000 });
    await store(db, [[taken, accepted('k')]], wrong);
    await db.transaction((trx) =>
      saveWebhook(trx, testRing(), account.appId, { url: 'http://a.example/', secret: 's' }),
    );
    await db.transaction((trx) => queueDeliveries(trx, { endedParts: [leased, taken], replies: [] }, wrong));
    const [first] = await db.query.selectFrom('sms_delivery').select('id').orderBy('id').execute();
    const waiting = { tries: 3, due_at: EVENING + HOUR_MS };
    await db.query
      .updateTable('sms_delivery')
      .set(waiting)
      .where('id', '=', first?.id ?? 0)
      .execute();
    await receive(db, [{ carrierKeys: ['nobody'] }], wrong);
    assert.deepEqual(await bringBack(db, EVENING), { parts: 0, others: 4 });
    const [one, two] = await readParts(db);
    assert.deepEqual([one?.state, one?.lease_until], ['submitting', EVENING + 6_000]);
    assert.deepEqual([two?.state, two?.submitted_at], ['submitted', EVENING]);
    assert.deepEqual(await receive(db, [{ carrierKeys: ['k'] }], EVENING), [taken]);
    const deliveries = await db.query.selectFrom('sms_delivery').select('due_at').orderBy('id').execute();
    assert.deepEqual(
      deliveries.map(({ due_at }) => due_at),
      [EVENING + HOUR_MS, EVENING],
      'one waits for its next try',
    );
  });

  test('a part that a status word made unknown is settled in 72 hours', async (t) => {
    await using db = await open(t, newDatabase);
    const account = await openSmsAccount(db, { now: EVENING });
    const [late = 0, right = 0] = await queueMessage(db, account, { texts: ['1', '2'], now: EVENING });
    const unknown = (id: number, revisable_until: number) =>
      db.query.updateTable('sms_part').set({ state: 'unknown', revisable_until }).where('id', '=', id).execute();
    await unknown(late, EVENING + 73 * HOUR_MS);
    await unknown(right, EVENING + 71 * HOUR_MS);
    assert.deepEqual(await bringBack(db, EVENING), { parts: 0, others: 1 });
    const rows = await db.query.selectFrom('sms_part').select('revisable_until').orderBy('id').execute();
    assert.deepEqual(
      rows.map(({ revisable_until }) => revisable_until),
      [EVENING + 72 * HOUR_MS, EVENING + 71 * HOUR_MS],
    );
  });

  test('a message accepted by a clock an hour ahead is sent at once, even after a restart in between', async (t) => {
    const world = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(world.db, { now: Date.now() });
    const accept = () => queueMessage(world.db, account, { now: Date.now() + HOUR_MS });
    await accept();
    const engine = await world.start();
    await untilStates(world.db, 'submitted');
    await accept();
    await untilStates(world.db, 'submitted', 'submitted');
    await engine.stop(0);
    await accept();
    world.a.state = 'bound';
    await world.start();
    await untilStates(world.db, 'submitted', 'submitted', 'submitted');
  });
});
