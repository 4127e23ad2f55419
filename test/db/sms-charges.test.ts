/** Charging by receipts, on both engines: delivered parts are charged, the others are paid back, each once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { expireParts, giveUpParts, queueUncertainAgain, settleUnknown } from '#db/tables/sms/sweep.ts';
import { type ChargeAt, REVISABLE_MS } from '#model/sms-part.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, readParts } from '../support/sms/sms-queue.ts';
import { accepted, claim, NOW, receive, referenceTo, rematch, store } from '../support/sms/sms-steps.ts';

const BY_RECEIPT = 'receipt';
const LOST = { kind: 'lost', error: 'timeout' } as const;

async function balanceOf(db: Db): Promise<number> {
  const { balance } = await db.query.selectFrom('sms_balance').select('balance').executeTakeFirstOrThrow();
  return balance;
}

/** Returns the end of every part, in order. */
async function ends(db: Db): Promise<readonly string[]> {
  const entries = await db.query.selectFrom('sms_ledger').select(['part_id', 'kind']).orderBy('id').execute();
  const kindsOf = (id: number) => entries.filter(({ part_id }) => part_id === id).map(({ kind }) => kind);
  return (await readParts(db)).map(({ id, state }) => `${state}: ${kindsOf(id).join(', ')}`);
}

function giveUp(db: Db, state: 'uncertain' | 'submitted', chargeAt: ChargeAt = BY_RECEIPT) {
  return db.transaction((trx) => giveUpParts(trx, { now: NOW + 1000, limit: 10, state, waitMs: 1000, chargeAt }));
}

describeOnBothEngines('charged by receipts', (newDatabase) => {
  test('a submitted part stays held; each part of a message has its own end, and the first end holds', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { balance: 100, now: NOW });
    const ids = await queueMessage(db, account, { texts: ['1', '2', '3', '4', '5'], now: NOW });
    await claim(db);
    const taken = ids.map((id, n) => [id, accepted(`k${n}`)] as const);
    for (let twice = 0; twice < 2; twice += 1) await store(db, taken, NOW, BY_RECEIPT);
    assert.deepEqual(
      await ends(db),
      Array.from({ length: 5 }, () => 'submitted: hold'),
    );
    const states = ['delivered', 'failed', 'expired', 'unknown', 'onTheWay'] as const;
    const receipts = states.map((state, n) => ({ carrierKeys: [`k${n}`], state }));
    const others = states.map((_, n) => ({ carrierKeys: [`k${n}`], state: n === 0 ? 'failed' : 'delivered' }) as const);
    assert.deepEqual([...(await receive(db, receipts, NOW, BY_RECEIPT))].sort(), ids.slice(0, 4));
    for (const again of [receipts, others.slice(0, 3)]) assert.deepEqual(await receive(db, again, NOW, BY_RECEIPT), []);
    await store(db, taken, NOW, BY_RECEIPT);
    assert.deepEqual(await ends(db), [
      'delivered: hold, charge',
      'failed: hold, refund',
      'expired: hold, refund',
      'unknown: hold',
      'submitted: hold',
    ]);
    await db.transaction((trx) => settleUnknown(trx, { now: NOW + REVISABLE_MS, limit: 10, chargeAt: BY_RECEIPT }));
    assert.equal((await ends(db))[3], 'unknown: hold, refund');
    assert.equal(await balanceOf(db), 90);
    await checkMoney(db, BY_RECEIPT);
  });

  test('the first of several concurrent ends holds, even of those that arrived before the answer', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { balance: 100, now: NOW });
    const ids = await queueMessage(db, account, { texts: ['1', '2', '3', '4'], now: NOW });
    await claim(db);
    const taken = ids.map((id, n) => [id, accepted(`k${n}`)] as const);
    const contrary = (n: number) =>
      (['onTheWay', 'unknown', 'failed', 'delivered'] as const).map((state) => ({ carrierKeys: [`k${n}`], state }));
    await receive(db, [...contrary(0), ...contrary(1).toReversed()], NOW, BY_RECEIPT);
    await store(db, taken, NOW, BY_RECEIPT);
    await receive(db, [...contrary(2), ...contrary(3).toReversed()], NOW, BY_RECEIPT);
    const [bad, good] = ['failed: hold, refund', 'delivered: hold, charge'];
    assert.deepEqual(await ends(db), [bad, good, bad, good]);
    await checkMoney(db, BY_RECEIPT);
  });

  for (const chargeAt of ['submit', 'receipt'] as const)
    test(`a word that proves nothing yields to a better one for 72 hours, charged by ${chargeAt}`, async (t) => {
      await using db = await openSmsDatabase(await newDatabase(t));
      const account = await openSmsAccount(db, { balance: 100, now: NOW });
      const ids = await queueMessage(db, account, { texts: ['1', '2', '3', '4'], now: NOW });
      await claim(db);
      const taken = ids.map((id, n) => [id, accepted(`k${n}`)] as const);
      await store(db, taken, NOW, chargeAt);
      const tell = (n: number, state: 'unknown' | 'delivered' | 'failed', word: string, now: number) =>
        receive(db, [{ carrierKeys: [`k${n}`], state, error: state === 'delivered' ? '' : word, word }], now, chargeAt);
      for (const n of [0, 1, 2, 3]) assert.deepEqual(await tell(n, 'unknown', 'XYZ', NOW), [ids[n]]);
      const settle = (now: number) => db.transaction((trx) => settleUnknown(trx, { now, limit: 10, chargeAt }));
      const over = NOW + REVISABLE_MS;
      assert.deepEqual([await settle(over - 1), await balanceOf(db)], [0, 80]);
      assert.deepEqual(await tell(0, 'unknown', 'ABC', over - 1), [], 'not by another such word');
      assert.deepEqual(await tell(0, 'delivered', 'DELIVRD', over - 1), [ids[0]]);
      assert.deepEqual(await tell(1, 'failed', 'MK:0012', over - 1), [ids[1]]);
      assert.deepEqual(await tell(2, 'delivered', 'DELIVRD', over), [], 'too late');
      assert.deepEqual(await tell(1, 'delivered', 'DELIVRD', over - 1), [], 'the first end that is sure holds');
      assert.deepEqual([await settle(over), await settle(over)], [2, 0]);
      const entries = chargeAt === 'submit' ? ['charge', 'charge', 'charge'] : ['charge', 'refund', 'refund'];
      const expected = ['delivered', 'failed', 'unknown'].map((state, n) => `${state}: hold, ${entries[n]}`);
      assert.deepEqual(await ends(db), [...expected, expected[2]]);
      assert.equal(await balanceOf(db), chargeAt === 'submit' ? 80 : 95);
      const parts = await readParts(db);
      assert.deepEqual(
        parts.map(({ error, last_word }) => `${error}/${last_word}`),
        ['/DELIVRD', 'MK:0012/MK:0012', 'XYZ/XYZ', 'XYZ/XYZ'],
      );
      await checkMoney(db, chargeAt);
    });

  test('a part without a receipt in time is paid back, and a later receipt charges nothing', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { balance: 100, now: NOW });
    const [taken = 0, lost = 0] = await queueMessage(db, account, { texts: ['1', '2'], now: NOW });
    await queueMessage(db, account, { expireAt: NOW + 1, dueAt: NOW + 1, now: NOW });
    await claim(db);
    await store(
      db,
      [
        [taken, accepted('k')],
        [lost, LOST],
      ],
      NOW,
      BY_RECEIPT,
    );
    assert.equal(await balanceOf(db), 85);
    await giveUp(db, 'submitted');
    await giveUp(db, 'uncertain');
    await db.transaction((trx) => expireParts(trx, { now: NOW + 1, limit: 10 }));
    await receive(
      db,
      [{ carrierKeys: ['k'] }, { carrierKeys: ['x'], reference: referenceTo(lost) }],
      NOW + 2000,
      BY_RECEIPT,
    );
    await store(db, [[lost, accepted('x')]], NOW + 2000, BY_RECEIPT);
    await rematch(db, NOW + 2000, BY_RECEIPT);
    assert.deepEqual(await ends(db), ['unknown: hold, refund', 'unknown: hold, refund', 'expired: hold, refund']);
    assert.equal(await balanceOf(db), 100);
    await checkMoney(db, BY_RECEIPT);
  });

  test('receipts before the answer, and of parts in doubt, settle as others do', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { balance: 100, now: NOW });
    const texts = ['failed first', 'delivered first', 'refused late', 'taken late', 'told failed', 'found'];
    const ids = await queueMessage(db, account, { texts, now: NOW });
    const [failed = 0, delivered = 0, refused = 0, late = 0, told = 0, found = 0] = ids;
    await claim(db);
    const early = [
      { carrierKeys: ['a'], state: 'failed' },
      { carrierKeys: ['b'] },
      { carrierKeys: ['x'], reference: referenceTo(found), state: 'failed' },
    ] as const;
    assert.deepEqual(await receive(db, early, NOW, BY_RECEIPT), []);
    const lost = [refused, late, told, found].map((id) => [id, LOST] as const);
    await store(db, [[failed, accepted('a')], [delivered, accepted('b')], ...lost], NOW, BY_RECEIPT);
    await rematch(db, NOW, BY_RECEIPT);
    await store(
      db,
      [
        [refused, { kind: 'refused', error: '0x0000000b' }],
        [late, accepted('c')],
      ],
      NOW,
      BY_RECEIPT,
    );
    await receive(db, [{ carrierKeys: ['y'], reference: referenceTo(told), state: 'failed' }], NOW, BY_RECEIPT);
    assert.deepEqual(await ends(db), [
      'failed: hold, refund',
      'delivered: hold, charge',
      'failed: hold, refund',
      'submitted: hold',
      'failed: hold, refund',
      'failed: hold, refund',
    ]);
    assert.equal(await balanceOf(db), 90);
    await checkMoney(db, BY_RECEIPT);
  });

  test('a part that is sent again is settled once; a simulated one is charged at once', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { balance: 100, settings: { resendUncertain: true }, now: NOW });
    const [notice = 0] = await queueMessage(db, account, { smsType: 2, now: NOW });
    const [tried = 0] = await queueMessage(db, account, { now: NOW });
    await claim(db);
    await store(
      db,
      [
        [notice, LOST],
        [tried, { kind: 'simulated' }],
      ],
      NOW,
      BY_RECEIPT,
    );
    await db.transaction((trx) => queueUncertainAgain(trx, { now: NOW, limit: 10, waitMs: 0, maxSends: 3 }));
    await claim(db);
    await store(db, [[notice, accepted('second')]], NOW, BY_RECEIPT);
    await store(db, [[notice, accepted('first')]], NOW, BY_RECEIPT);
    const both = [{ carrierKeys: ['second'], state: 'failed' }, { carrierKeys: ['first'] }] as const;
    await receive(db, both, NOW, BY_RECEIPT);
    assert.deepEqual(await ends(db), ['failed: hold, refund', 'simulated: hold, charge']);
    assert.equal(await balanceOf(db), 95);
    await checkMoney(db, BY_RECEIPT);
  });

  test('a change of the charging rule keeps charged parts charged, and settles held ones by the new rule', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { balance: 100, now: NOW });
    const ids = await queueMessage(db, account, { texts: ['1', '2', '3', '4', '5', '6'], now: NOW });
    const [one = 0, two = 0, three = 0, four = 0, five = 0, six = 0] = ids;
    await claim(db);
    const take = (chargeAt: ChargeAt, ...parts: number[]) =>
      store(
        db,
        parts.map((id) => [id, accepted(`k${id}`)] as const),
        NOW,
        chargeAt,
      );
    const told = (state: 'delivered' | 'failed', id: number) => ({ carrierKeys: [`k${id}`], state });
    await take('submit', one, two, three);
    await receive(db, [told('delivered', one), told('failed', two)], NOW, BY_RECEIPT);
    assert.deepEqual(await giveUp(db, 'submitted'), [three]);
    await take(BY_RECEIPT, four, five, six);
    await receive(db, [told('delivered', four), told('failed', five)], NOW, 'submit');
    await giveUp(db, 'submitted', 'submit');
    assert.deepEqual(await ends(db), [
      'delivered: hold, charge',
      'failed: hold, charge',
      'unknown: hold, charge',
      'delivered: hold, charge',
      'failed: hold, charge',
      'unknown: hold, charge',
    ]);
    assert.equal(await balanceOf(db), 70);
  });
});
