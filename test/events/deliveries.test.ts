/** Events on their way to webhooks: signed, sent again, bounded, and never to where they must not go. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addEvent } from '#db/tables/events/events.ts';
import { OPERATOR, readEventBacklog, saveEventWebhook, tidyEventDeliveries } from '#db/tables/events/webhooks.ts';
import type { NewServiceEvent } from '#model/event.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { startTestDeliveries } from '../support/events/deliveries.ts';
import { isSigned, startReceiver } from '../support/events/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase } from '../support/feed/feed.ts';
import { testRing } from '../support/sms/sms-queue.ts';

const ACCOUNT = 7;
const SECRET = 'the secret';

async function openWorld(t: TestContext, newDatabase: NewDatabase, allow: readonly string[] = ['127.0.0.0/8']) {
  const db = await openTestDatabase(await newDatabase(t));
  const ring = testRing();
  const clock = { now: Date.now() };
  const outcomes = startTestDeliveries(t, { db, ring, clock: () => clock.now, allow });
  t.after(() => db[Symbol.asyncDispose]());
  return {
    db,
    clock,
    outcomes,
    setWebhook: (receiver: number, url: string) =>
      db.transaction((trx) =>
        saveEventWebhook(trx, ring, { receiver, webhook: { url, secret: SECRET }, now: clock.now }),
      ),
    add: (changed: Partial<NewServiceEvent> = {}) =>
      db.transaction((trx) => addEvent(trx, { ...event(clock.now), ...changed })),
    waiting: async () => (await readEventBacklog(db.query, clock.now)).deliveries,
  };
}

function event(at: number): NewServiceEvent {
  return {
    at,
    kind: 'origin.down',
    accountId: ACCOUNT,
    target: { kind: 'domain', id: '3', name: 'www.example.com' },
    actor: 'control',
    data: { origin: 'o:80' },
  };
}

describeOnBothEngines('deliveries of events', (newDatabase) => {
  test('an event is posted to its account and to the operator, signed, and again until it is accepted', async (t) => {
    const world = await openWorld(t, newDatabase);
    const [operator, customer, other] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
    await world.setWebhook(OPERATOR, operator.url);
    await world.setWebhook(ACCOUNT, customer.url);
    await world.setWebhook(ACCOUNT + 1, other.url);
    customer.answerWith((response) => response.writeHead(500).end());
    await world.add();
    await world.add({ kind: 'edge.away', accountId: undefined, target: { kind: 'edge', id: 'fra1', name: 'fra1' } });
    await eventually('the operator has both', () => operator.accepted().length === 2);
    await eventually('the customer was asked, and the outcome is stored', async () => {
      const [row] = await world.db.query.selectFrom('event_delivery').select('error').execute();
      return customer.posted.length === 1 && row?.error === '500';
    });
    customer.answerWith(undefined);
    world.clock.now += 3_600_000;
    await eventually('the customer has its own', () => customer.accepted().length === 1);
    await eventually('nothing waits', async () => (await world.waiting()) === 0);
    assert.deepEqual(operator.accepted().toSorted(), ['edge.away', 'origin.down']);
    assert.equal(other.posted.length, 0);
    const [first, again] = customer.posted;
    assert.equal(first?.body, again?.body);
    assert.equal(first?.headers['x-causeway-delivery'], again?.headers['x-causeway-delivery']);
    assert.ok(again !== undefined && isSigned(again, SECRET));
    const { event_id, ...rest } = again.event;
    assert.match(event_id, /^\d+$/);
    assert.deepEqual(rest, {
      event: 'origin.down',
      time: world.clock.now - 3_600_000,
      severity: 'warning',
      account_id: String(ACCOUNT),
      target: { kind: 'domain', id: '3', name: 'www.example.com' },
      actor: 'control',
      data: { origin: 'o:80' },
      text: 'text of origin.down',
    });
  });

  test("a customer's receiver in the private network gets nothing, and the operator's does", async (t) => {
    const world = await openWorld(t, newDatabase, []);
    const receiver = await startReceiver(t);
    await world.setWebhook(ACCOUNT, receiver.url);
    await world.add();
    await eventually('it is refused', async () => {
      const [row] = await world.db.query.selectFrom('event_delivery').select('error').execute();
      return row?.error === 'originForbidden';
    });
    assert.equal(receiver.posted.length, 0);
    await world.setWebhook(OPERATOR, receiver.url);
    await world.add();
    await eventually('it has it', () => receiver.accepted().length === 1);
    assert.equal(receiver.posted[0]?.headers['x-causeway-signature'] !== undefined, true);
  });

  test('a receiver that never answers delays no other', async (t) => {
    const world = await openWorld(t, newDatabase);
    const [slow, quick] = [await startReceiver(t), await startReceiver(t)];
    slow.answerWith(() => undefined);
    await world.setWebhook(ACCOUNT, slow.url);
    await world.setWebhook(ACCOUNT + 1, quick.url);
    for (let n = 0; n < 100; n++) await world.add();
    await eventually('as much is under way as may be for one', () => slow.posted.length === 8);
    for (let n = 0; n < 20; n++) await world.add({ accountId: ACCOUNT + 1 });
    await eventually('the other has all of its own', () => quick.accepted().length === 20);
    assert.equal(slow.posted.length, 8);
  });

  test('many receivers that never answer delay no other', async (t) => {
    const world = await openWorld(t, newDatabase);
    for (let account = 100; account < 109; account++) {
      const slow = await startReceiver(t);
      slow.answerWith(() => undefined);
      await world.setWebhook(account, slow.url);
      for (let n = 0; n < 10; n++) await world.add({ accountId: account });
    }
    const quick = await startReceiver(t);
    await world.setWebhook(ACCOUNT, quick.url);
    for (let n = 0; n < 3; n++) await world.add();
    await eventually('the other has all of its own', () => quick.accepted().length === 3);
    await eventually('the outcomes are counted', () => world.outcomes.length >= 3);
    assert.deepEqual(world.outcomes, ['delivered', 'delivered', 'delivered'], 'and no post of the others has ended');
  });

  test('what waits for a receiver is bounded: the oldest events make room, and those of others stay', async (t) => {
    const world = await openWorld(t, newDatabase);
    const receiver = await startReceiver(t);
    receiver.answerWith((response) => response.writeHead(503).end());
    await world.setWebhook(ACCOUNT, receiver.url);
    await world.setWebhook(OPERATOR, receiver.url);
    // Stored at once: ten thousand transactions would say the same.
    const row = { event_id: 1, body: '{}', due_at: world.clock.now + 3_000_000, created_at: world.clock.now };
    for (let n = 0; n < 10_000; n += 500)
      await world.db.query
        .insertInto('event_delivery')
        .values(Array.from({ length: 500 }, () => ({ ...row, receiver: ACCOUNT })))
        .execute();
    const ids = async (receiver: number) => {
      const rows = await world.db.query
        .selectFrom('event_delivery')
        .select('id')
        .where('receiver', '=', receiver)
        .orderBy('id')
        .execute();
      return rows.map(({ id }) => id);
    };
    const before = await ids(ACCOUNT);
    await world.add();
    const after = await ids(ACCOUNT);
    assert.equal(after.length, 10_000);
    assert.equal(after[0], before[1]);
    assert.equal((await ids(OPERATOR)).length, 1);
  });

  test('deliveries that failed for two days are deleted, and one that a wrong clock put off is due', async (t) => {
    const world = await openWorld(t, newDatabase);
    await world.setWebhook(OPERATOR, 'http://127.0.0.1:1/');
    await world.add();
    await world.db.query
      .updateTable('event_delivery')
      .set({ due_at: world.clock.now + 86_400_000 })
      .execute();
    await world.db.transaction((trx) => tidyEventDeliveries(trx, world.clock.now));
    await eventually('it is tried', () => world.outcomes.length > 0);
    await world.db.transaction((trx) => tidyEventDeliveries(trx, world.clock.now + 2 * 86_400_000 + 1));
    assert.equal(await world.waiting(), 0);
  });
});
