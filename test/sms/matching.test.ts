/** Receipts find their part, whatever their carrier makes of ids; where it cannot be told whose one is, it waits. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { takeUnmatched } from '#db/tables/sms/orphans.ts';
import { answerKeys, receiptKeys } from '#sms/smpp/carrier-id.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, readParts } from '../support/sms/sms-queue.ts';
import { accepted, claim, NOW, receive, referenceTo, rematch, store } from '../support/sms/sms-steps.ts';

const HERE = '+8613800138000';
const LOST = { kind: 'lost', error: 'timeout' } as const;

describeOnBothEngines('receipts', (newDatabase) => {
  async function open(t: TestContext, create: NewDatabase, destinations: readonly string[]) {
    const db = await openSmsDatabase(await create(t));
    t.after(() => db[Symbol.asyncDispose]());
    const account = await openSmsAccount(db, { now: NOW });
    const ids: number[] = [];
    for (const destination of destinations) ids.push(...(await queueMessage(db, account, { destination, now: NOW })));
    await claim(db, { limit: destinations.length });
    const states = async () => (await readParts(db)).map(({ state }) => state);
    return { db, ids, states, account };
  }

  /** Answers in hexadecimal, receipts in decimal. Many of the decimals are a hexadecimal id of another part too. */
  const idOf = (n: number) => 100 + n;
  const answerOf = (n: number) => {
    const carrierId = idOf(n).toString(16);
    return { kind: 'accepted', carrierId, keys: answerKeys(carrierId, 'auto') } as const;
  };
  const receiptOf = (n: number) => {
    const carrierKeys = receiptKeys(String(idOf(n)), '', 'auto');
    const isFailure = n % 8 === 0;
    return {
      ...{ carrierKeys, equalKeys: carrierKeys.length, word: String(n) },
      ...(isFailure && ({ state: 'failed', error: 'UNDELIV' } as const)),
    };
  };
  const stateOf = (n: number) => (n % 8 === 0 ? 'failed' : 'delivered');

  test('receipts whose ids use another base than the answers are matched by their numbers', async (t) => {
    const numbers = Array.from({ length: 300 }, (_, n) => `+86138001${String(38_000 + n)}`);
    const { db, ids, states } = await open(t, newDatabase, numbers);
    const overtaking = ids.flatMap((_, n) => (n % 3 === 0 ? [n] : []));
    const others = ids.flatMap((_, n) => (n % 3 === 0 ? [] : [n]));
    const told = (n: number) => ({ ...receiptOf(n), destination: numbers[n] ?? '' });
    await receive(db, overtaking.map(told));
    await store(
      db,
      ids.map((id, n) => [id, answerOf(n)]),
    );
    await receive(db, others.map(told));
    assert.deepEqual(
      await states(),
      ids.map((_, n) => stateOf(n)),
    );
    assert.deepEqual(await rematch(db), []);
    await checkMoney(db);
  });

  test('receipts in another base, all for one number, are matched by reference, and never wrongly', async (t) => {
    const { db, ids, states } = await open(
      t,
      newDatabase,
      Array.from({ length: 300 }, () => HERE),
    );
    await store(
      db,
      ids.map((id, n) => [id, answerOf(n)]),
    );
    await receive(
      db,
      ids.map((_, n) => receiptOf(n)),
    );
    for (let n = 0; n < 5; n += 1) await rematch(db);
    const settled = await readParts(db);
    const wrong = settled.filter(({ last_word }, n) => last_word !== '' && last_word !== String(n));
    assert.deepEqual(wrong, []);
    await receive(
      db,
      ids.map((id, n) => ({ ...receiptOf(n), reference: referenceTo(id) })),
    );
    assert.deepEqual(
      await states(),
      ids.map((_, n) => stateOf(n)),
    );
    await checkMoney(db);
  });

  test('receipts that could name a part by several forms wait while an answer for their number is outstanding', async (t) => {
    const { db, ids, states, account } = await open(t, newDatabase, [HERE]);
    const [old = 0] = ids;
    const id = (carrierId: string) => ({ kind: 'accepted', carrierId, keys: answerKeys(carrierId, 'auto') }) as const;
    await store(db, [[old, id('100')]]);
    const [next = 0] = await queueMessage(db, account, { now: NOW });
    await claim(db);
    const carrierKeys = receiptKeys('100', '', 'auto');
    // In decimal: of the part whose answer, 64, is still out.
    const failed = { carrierKeys, equalKeys: carrierKeys.length, state: 'failed', error: 'X' } as const;
    assert.deepEqual(await receive(db, [failed]), []);
    assert.deepEqual(await rematch(db), []);
    await store(db, [[next, id('64')]]);
    const carrierKeysOfOld = receiptKeys('256', '', 'auto');
    await receive(db, [{ carrierKeys: carrierKeysOfOld, equalKeys: carrierKeysOfOld.length }]);
    await rematch(db);
    assert.deepEqual(await states(), ['delivered', 'failed']);
    await checkMoney(db);
  });

  test('receipts that overtake the answer with their id do not settle an older part in doubt', async (t) => {
    const { db, ids, states, account } = await open(t, newDatabase, [HERE]);
    const [old = 0] = ids;
    await store(db, [[old, LOST]]);
    const [next = 0] = await queueMessage(db, account, { now: NOW });
    await claim(db);
    assert.deepEqual(await receive(db, [{ carrierKeys: ['n'], state: 'failed', error: 'X' }]), []);
    assert.deepEqual(await rematch(db), [], 'its answer is on its way');
    assert.deepEqual(await store(db, [[next, accepted('n')]]), [next]);
    assert.deepEqual(await states(), ['uncertain', 'failed']);
    assert.deepEqual(await receive(db, [{ carrierKeys: ['o'] }]), []);
    assert.deepEqual(await rematch(db, NOW + 34_999, 'submit', 35_000), []);
    assert.deepEqual(await rematch(db, NOW + 35_000, 'submit', 35_000), [old]);
    assert.deepEqual(await store(db, [[old, accepted('late')]]), [], 'the first end holds');
    await checkMoney(db);
  });

  test('receipts that fit several parts wait until one is left, and are reported when no answer is outstanding', async (t) => {
    const { db, ids, states } = await open(t, newDatabase, [HERE, HERE, HERE]);
    const [one = 0, two = 0, three = 0] = ids;
    await store(
      db,
      ids.map((id) => [id, accepted('same')]),
    );
    await receive(db, [{ carrierKeys: ['same'] }]);
    assert.deepEqual(await rematch(db), []);
    await receive(db, [{ carrierKeys: ['same'], reference: referenceTo(one), state: 'failed' }]);
    assert.deepEqual(await rematch(db, NOW + 3_000_000), []);
    const report = (until: number) => db.transaction((trx) => takeUnmatched(trx, until));
    assert.deepEqual(await report(NOW - 1), []);
    await receive(db, [{ carrierKeys: ['same'], reference: referenceTo(three) }]);
    assert.deepEqual(await rematch(db, NOW + 3_000_000), [two], 'long after it came');
    assert.deepEqual(await states(), ['failed', 'delivered', 'delivered']);
    assert.deepEqual(await report(NOW), []);
    await checkMoney(db);
  });

  test('receipts that always fit several parts, or name other numbers, are counted once each and stored', async (t) => {
    const { db, ids } = await open(t, newDatabase, [HERE, HERE]);
    await store(
      db,
      ids.map((id) => [id, accepted('same')]),
    );
    await receive(db, [{ carrierKeys: ['same'] }, { carrierKeys: ['same'], destination: '+8613900139000' }]);
    const report = () => db.transaction((trx) => takeUnmatched(trx, NOW));
    assert.deepEqual(await report(), [
      { connectorId: 1, reason: 'number', count: 1 },
      { connectorId: 1, reason: 'ambiguous', count: 1 },
    ]);
    assert.deepEqual(await report(), []);
    assert.deepEqual(await rematch(db), []);
    assert.deepEqual(await report(), []);
    const kept = await db.query.selectFrom('sms_receipt').select('part_id').execute();
    assert.deepEqual(
      kept.map(({ part_id }) => part_id),
      [null, null],
    );
  });

  test('receipts of another number with the same id settle its own part, when its answer arrives', async (t) => {
    const { db, ids, states } = await open(t, newDatabase, [HERE, '+8613900139000']);
    const [here = 0, there = 0] = ids;
    await store(db, [[here, accepted('7')]]);
    assert.deepEqual(await receive(db, [{ carrierKeys: ['7'], destination: '+8613900139000' }]), []);
    assert.deepEqual(await store(db, [[there, accepted('7')]]), [there]);
    assert.deepEqual(await states(), ['submitted', 'delivered']);
  });

  test('receipts that arrived while another process stored the answer are found by any form of their id', async (t) => {
    const { db, ids, states } = await open(t, newDatabase, [HERE]);
    const [id = 0] = ids;
    await receive(db, [receiptOf(1)]);
    // As it lies where neither saw the other.
    await db.query
      .updateTable('sms_part')
      .set({ state: 'submitted', carrier_key: idOf(1).toString(16) })
      .where('id', '=', id)
      .execute();
    assert.deepEqual(await rematch(db, NOW, 'submit', 35_000), [id]);
    assert.deepEqual(await states(), ['delivered']);
  });

  test('receipts and answers that are stored at the same time settle each part once', async (t) => {
    const numbers = Array.from({ length: 40 }, (_, n) => `+86138001380${10 + n}`);
    const { db, ids, states } = await open(t, newDatabase, numbers);
    await Promise.all(
      ids.flatMap((id, n) => [
        store(db, [[id, answerOf(n)]]),
        receive(db, [{ ...receiptOf(n), destination: numbers[n] ?? '' }]),
      ]),
    );
    await rematch(db);
    assert.deepEqual(
      await states(),
      ids.map((_, n) => stateOf(n)),
    );
    await checkMoney(db);
  });
});
