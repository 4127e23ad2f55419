/** The queue of parts on both engines: order, outcomes and money. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import {
  expireParts,
  giveUpParts,
  loseLeases,
  queueUncertainAgain,
  rejectOptedOut,
  renewLeases,
  settleForgotten,
} from '#db/tables/sms/sweep.ts';
import type { PartOutcome } from '#model/sms-part.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, readParts } from '../support/sms/sms-queue.ts';
import { accepted, claim, NOW, receive, referenceTo, rematch, store } from '../support/sms/sms-steps.ts';

const states = async (db: Db) => (await readParts(db)).map(({ state }) => state);

describeOnBothEngines('the queue of parts', (newDatabase) => {
  test("accounts take turns, each in its own order; ordinary messages precede anybody's advertising", async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const [a, b, c] = [
      await openSmsAccount(db, { now: NOW }),
      await openSmsAccount(db, { now: NOW }),
      await openSmsAccount(db, { now: NOW }),
    ];
    const many = await queueMessage(db, a, { texts: ['1', '2', '3', '4', '5', '6', '7', '8'], now: NOW - 9000 });
    const two = await queueMessage(db, b, { texts: ['1', '2'], now: NOW - 10 });
    const one = await queueMessage(db, c, { now: NOW });
    await queueMessage(db, c, { dueAt: NOW + 1, now: NOW });
    const ad = await queueMessage(db, b, { kind: 'advertising', now: NOW - 9000 });
    const taken = async (limit: number, after: number) => (await claim(db, { limit, after })).map(({ id }) => id);
    assert.deepEqual(await taken(1, a.accountId), two.slice(0, 1), 'who comes after the last');
    assert.deepEqual(await taken(4, b.accountId), [one[0], many[0], two[1], many[1]]);
    assert.deepEqual(await taken(2, a.accountId), many.slice(2, 4), 'who is alone has all the room');
    assert.deepEqual(await taken(10, a.accountId), [...many.slice(4), ...ad]);
  });

  test('room is shared evenly, and room that one account leaves goes to the others', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const accounts: number[] = [];
    for (const parts of [1, 20, 3, 20]) {
      const account = await openSmsAccount(db, { now: NOW });
      await queueMessage(db, account, { texts: Array.from({ length: parts }, (_, n) => `${n}`), now: NOW });
      accounts.push(account.accountId);
    }
    for (const [limit, expected] of [
      [20, [1, 8, 3, 8]],
      [3, [0, 2, 0, 1]],
      [30, [0, 10, 0, 11]],
    ] as const) {
      const taken = await claim(db, { limit, after: accounts[3] ?? 0 });
      const given = accounts.map((id) => taken.filter(({ accountId }) => accountId === id).length);
      assert.deepEqual(given, expected, `${limit} at most`);
    }
  });

  test('an account without due messages delays nobody', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    for (let n = 0; n < 40; n += 1)
      await queueMessage(db, await openSmsAccount(db, { now: NOW }), { dueAt: NOW + 1, now: NOW });
    const [due] = await queueMessage(db, await openSmsAccount(db, { now: NOW }), { now: NOW });
    assert.deepEqual(
      (await claim(db, { limit: 1 })).map(({ id }) => id),
      [due],
    );
  });

  test('a round serves some of very many accounts, and the next round the others', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const accounts = [];
    for (let n = 0; n < 40; n += 1) accounts.push(await openSmsAccount(db, { now: NOW }));
    for (const account of accounts) for (let n = 0; n < 2; n += 1) await queueMessage(db, account, { now: NOW });
    const first = await claim(db, { limit: 32 });
    const owners = first.map(({ accountId }) => accountId);
    assert.deepEqual(
      owners,
      accounts.slice(0, 32).map(({ accountId }) => accountId),
    );
    const second = await claim(db, { limit: 16, after: owners.at(-1) ?? 0 });
    const next = [...accounts.slice(32), ...accounts.slice(0, 8)].map(({ accountId }) => accountId);
    assert.deepEqual(
      second.map(({ accountId }) => accountId),
      next,
    );
  });

  test('ordinary messages precede advertising, then the oldest, a message in its order; none is sent early or expired', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const [ad] = await queueMessage(db, account, { kind: 'advertising', now: NOW - 5000 });
    const late = await queueMessage(db, account, { texts: ['1', '2', '3'], now: NOW });
    const [early] = await queueMessage(db, account, { now: NOW - 1 });
    await queueMessage(db, account, { dueAt: NOW + 1, now: NOW });
    await queueMessage(db, account, { expireAt: NOW, now: NOW - 9000 });
    await queueMessage(db, account, { route: '+852', now: NOW - 9000 });
    const first = await claim(db, { limit: 2 });
    assert.deepEqual(
      first.map(({ id }) => id),
      [early, late[0]],
    );
    assert.deepEqual(
      (await claim(db)).map(({ id }) => id),
      [late[1], late[2], ad],
    );
    assert.deepEqual(await claim(db), []);
    await checkMoney(db);
  });

  test('a submitted part is charged once; a refused one is paid back once, with the parts that wait for it', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { balance: 100, now: NOW });
    const [taken = 0] = await queueMessage(db, account, { now: NOW });
    const [refused = 0, other = 0] = await queueMessage(db, account, { texts: ['1', '2'], now: NOW + 1 });
    await claim(db, { limit: 2, now: NOW + 1 });
    for (let twice = 0; twice < 2; twice += 1) {
      const ended = await store(db, [
        [taken, accepted('a1')],
        [refused, { kind: 'refused', error: '0x0000000b' }],
      ]);
      assert.deepEqual([...ended].sort(), twice === 0 ? [refused, other] : []);
    }
    assert.deepEqual(await states(db), ['submitted', 'failed', 'failed']);
    const { balance } = await db.query.selectFrom('sms_balance').select('balance').executeTakeFirstOrThrow();
    assert.equal(balance, 95);
    await checkMoney(db);
  });

  test('many answers at once settle each part once, charge it once, and keep an earlier end', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const texts = Array.from({ length: 40 }, (_, n) => `${n}`);
    const ids = await queueMessage(db, account, { texts, now: NOW });
    await claim(db, { limit: 40 });
    await store(db, [
      [ids[3] ?? 0, accepted('first')],
      [ids[20] ?? 0, { kind: 'refused', error: '0x0000000b' }],
    ]);
    // The carrier's ids are as it sent them.
    const answers = ids.map((id) => [id, accepted(`c\0\ud800${id}`)] as const);
    for (let twice = 0; twice < 2; twice += 1) await store(db, answers);
    const carrierIds = await db.query.selectFrom('sms_part').select('carrier_id').orderBy('id').execute();
    assert.deepEqual(
      carrierIds.map(({ carrier_id }) => carrier_id),
      ids.map((id, n) => (n === 3 ? 'first' : n === 20 ? null : `c\ufffd\ufffd${id}`)),
    );
    assert.deepEqual(
      await states(db),
      ids.map((_, n) => (n === 20 ? 'failed' : 'submitted')),
    );
    await checkMoney(db);
  });

  test('parts of one message stay with one connector, and change it only while none has been sent', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const [one = 0, two = 0] = await queueMessage(db, account, { texts: ['1', '2'], now: NOW });
    assert.deepEqual(
      (await claim(db, { limit: 1 })).map(({ id }) => id),
      [one],
    );
    assert.deepEqual(await claim(db, { connectorId: 2 }), []);
    await store(db, [[one, { kind: 'postponed', error: '0x00000058' }]]);
    assert.deepEqual(
      (await claim(db, { connectorId: 2, limit: 1 })).map(({ id }) => id),
      [one],
    );
    await store(db, [[one, accepted('b1')]]);
    assert.deepEqual(await claim(db, { connectorId: 1 }), []);
    assert.deepEqual(
      (await claim(db, { connectorId: 2 })).map(({ id }) => id),
      [two],
    );
    await checkMoney(db);
  });

  test('a throttled part keeps its place and its tries; an error of the carrier costs a try', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const [first = 0] = await queueMessage(db, account, { now: NOW - 10 });
    const [second = 0] = await queueMessage(db, account, { now: NOW });
    await claim(db);
    await store(db, [
      [second, { kind: 'postponed', error: '0x00000058' }],
      [first, { kind: 'postponed', dueAt: NOW + 5000, error: '0x00000008' }],
    ]);
    assert.deepEqual(
      (await readParts(db)).map(({ tries, sends, due_at }) => [tries, sends, due_at]),
      [
        [1, 0, NOW + 5000],
        [0, 0, NOW],
      ],
    );
    const lanes = [{ route: '', minTries: 1, maxTries: 4 }];
    assert.deepEqual(
      (await claim(db, { now: NOW + 4999, lanes })).map(({ id }) => id),
      [],
    );
    assert.deepEqual(
      (await claim(db, { now: NOW + 5000, lanes })).map(({ id, tries }) => [id, tries]),
      [[first, 1]],
    );
    await checkMoney(db);
  });

  test('a receipt settles its part once, even if it arrives before the answer', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const [one = 0, two = 0] = await queueMessage(db, account, { texts: ['1', '2'], now: NOW });
    await claim(db);
    assert.deepEqual(
      await receive(db, [{ carrierKeys: ['k2'] }], NOW - 60_001),
      [],
      'of something that had this id before',
    );
    await store(db, [[one, accepted('k1')]]);
    assert.deepEqual(
      await receive(db, [{ carrierKeys: ['k2'], state: 'failed', error: '42' }, { carrierKeys: ['k1'] }]),
      [one],
    );
    assert.deepEqual(await receive(db, [{ carrierKeys: ['k1'], state: 'failed' }]), [], 'the first end holds');
    assert.deepEqual(await store(db, [[two, accepted('k2')]]), [two]);
    assert.deepEqual(
      (await readParts(db)).map(({ state, error }) => [state, error]),
      [
        ['delivered', ''],
        ['failed', '42'],
      ],
    );
    await checkMoney(db);
  });

  test('a part has ended when the carrier says so (ksmppd#108, vonage-php-sdk-core#173), as far as its clock can be right', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const ids = await queueMessage(db, account, { texts: ['1', '2', '3', '4', '5', '6'], now: NOW });
    await claim(db);
    const later = (seconds: number) => NOW + seconds * 1000;
    await receive(db, [{ carrierKeys: ['5'] }, { carrierKeys: ['6'], doneAt: later(1) }], later(2));
    const taken = ids.map((id, n) => [id, accepted(String(n + 1))] as const);
    await store(db, taken, later(9));
    const told = [later(4), later(9999), later(-60), undefined];
    const receipts = told.map((doneAt, n) => ({ carrierKeys: [String(n + 1)], ...(doneAt && { doneAt }) }));
    await receive(db, receipts, later(10));
    const ends = (await readParts(db)).map(({ done_at }) => done_at);
    assert.deepEqual(ends, [4, 10, 0, 10, 2, 1].map(later));
  });

  test('a part that its process does not know takes its turn again when the lease ends, unless it was sent; a known one stays', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const [known = 0] = await queueMessage(db, account, { now: NOW });
    const [unknown = 0] = await queueMessage(db, account, { now: NOW });
    await claim(db);
    const settle = (now: number, underWay: readonly number[], wasSent: (id: number) => boolean) =>
      db.transaction((trx) => settleForgotten(trx, { now, owner: 'a', underWay, wasSent }));
    const queueAgain = async (now: number, underWay: readonly number[] = []) =>
      (await settle(now, underWay, () => false)).queued;
    const renewed = { owner: 'a', partIds: [known], before: NOW + 70_000, until: NOW + 90_000 };
    await db.transaction((trx) => renewLeases(trx, renewed));
    assert.equal(await queueAgain(NOW + 60_000), 0, 'both leases run');
    assert.equal(await queueAgain(NOW + 95_000, [known, unknown]), 0, 'it has stood still since it renewed them');
    assert.equal(await queueAgain(NOW + 80_000), 1);
    const look = async () => (await readParts(db)).map(({ id, state, sends }) => [id, state, sends]);
    assert.deepEqual(await look(), [
      [known, 'submitting', 1],
      [unknown, 'queued', 0],
    ]);
    const [, again] = await readParts(db);
    assert.equal(again?.connector_id, null, 'any connector may take it');
    await claim(db, { owner: 'b', now: NOW + 80_000 });
    const late: PartOutcome = { kind: 'postponed', error: 'late' };
    await store(db, [[unknown, late]], NOW + 80_000);
    assert.deepEqual((await look())[1], [unknown, 'submitting', 1]);
    await store(db, [[unknown, late]], NOW + 80_000, 'submit', 'b');
    assert.deepEqual((await look())[1], [unknown, 'queued', 0]);
    const sent = await settle(NOW + 95_000, [], (id) => id === known);
    assert.deepEqual([sent, (await look())[0]], [{ queued: 0, lost: 1 }, [known, 'uncertain', 1]]);
    await checkMoney(db);
  });

  test('a part in flight when its process died is uncertain: not sent again, settled by a receipt or given up', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const [byReference = 0] = await queueMessage(db, account, { now: NOW });
    const [alone = 0] = await queueMessage(db, account, { destination: '+85291234567', now: NOW });
    const [never = 0] = await queueMessage(db, account, { now: NOW });
    await claim(db);
    const lose = (owner: string, now: number, isAlone = false) =>
      db.transaction((trx) => loseLeases(trx, { now, owner, isAlone }));
    const renewed = { owner: 'a', partIds: [byReference, alone, never], before: NOW + 70_000, until: NOW + 90_000 };
    await db.transaction((trx) => renewLeases(trx, renewed));
    assert.equal(await lose('b', NOW + 90_000), 0, 'the lease still runs');
    assert.equal(await lose('a', NOW + 90_001), 0, 'its own');
    assert.equal(await lose('a', NOW, true), 0, 'its own');
    assert.equal(await lose('b', NOW, true), 3);
    assert.deepEqual(await claim(db), []);
    await receive(db, [{ carrierKeys: ['x'] }, { carrierKeys: ['z'], destination: '+85291234567' }]);
    assert.deepEqual(await rematch(db, NOW, 'submit', 1), [], 'an answer may bring the ids yet');
    assert.deepEqual(await rematch(db), [alone], 'two could be meant by the other');
    assert.deepEqual(await receive(db, [{ carrierKeys: ['y'], reference: referenceTo(byReference) }]), [byReference]);
    const giveUp = { now: NOW + 1000, limit: 10, state: 'uncertain', waitMs: 1000, chargeAt: 'submit' } as const;
    assert.deepEqual(await db.transaction((trx) => giveUpParts(trx, giveUp)), [never]);
    assert.deepEqual(await states(db), ['delivered', 'delivered', 'unknown']);
    await checkMoney(db);
  });

  test('a receipt that arrived while its part was thought to be in flight settles it when it is uncertain', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const [part = 0] = await queueMessage(db, account, { now: NOW });
    await claim(db);
    assert.deepEqual(await receive(db, [{ carrierKeys: ['k'] }]), []);
    assert.deepEqual(await rematch(db), []);
    await store(db, [[part, { kind: 'lost', error: 'timeout' }]]);
    assert.deepEqual(await rematch(db), [part]);
    assert.deepEqual(await states(db), ['delivered']);
    await checkMoney(db);
  });

  test('a notice of a service that prefers duplicates is sent again, marked so, a limited number of times', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { settings: { resendUncertain: true }, now: NOW });
    const [notice = 0] = await queueMessage(db, account, { smsType: 2, now: NOW });
    await queueMessage(db, account, { smsType: 1, now: NOW });
    await claim(db);
    const again = () =>
      db.transaction((trx) => queueUncertainAgain(trx, { now: NOW, limit: 10, waitMs: 0, maxSends: 3 }));
    for (const expected of [1, 1, 0]) {
      for (const { id } of await readParts(db)) await store(db, [[id, { kind: 'lost', error: 'timeout' }]]);
      assert.equal(await again(), expected);
      await claim(db);
    }
    assert.deepEqual(
      (await readParts(db)).map(({ id, sends }) => [id === notice, sends]),
      [
        [true, 3],
        [false, 1],
      ],
    );
    await checkMoney(db);
  });

  test('a late refusal fails and pays back a part that waits to be sent again', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { settings: { resendUncertain: true }, now: NOW });
    const [notice = 0] = await queueMessage(db, account, { smsType: 2, now: NOW });
    await claim(db);
    await store(db, [[notice, { kind: 'lost', error: 'timeout' }]]);
    await db.transaction((trx) => queueUncertainAgain(trx, { now: NOW, limit: 10, waitMs: 0, maxSends: 3 }));
    assert.deepEqual(await states(db), ['queued']);
    assert.deepEqual(await store(db, [[notice, { kind: 'refused', error: '0x0b' }]]), [notice]);
    assert.deepEqual(await states(db), ['failed']);
    assert.deepEqual(await claim(db), []);
    await checkMoney(db);
  });

  test('messages that expire or are opted out before they are sent are paid back', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { balance: 20, now: NOW });
    await queueMessage(db, account, { expireAt: NOW + 1, now: NOW });
    await queueMessage(db, account, { kind: 'advertising', now: NOW });
    await queueMessage(db, account, { now: NOW });
    await db.transaction((trx) => expireParts(trx, { now: NOW + 1, limit: 10 }));
    const number = '+8613800138000';
    await db.transaction((trx) => rejectOptedOut(trx, [{ accountId: account.accountId, number }], NOW));
    assert.deepEqual(await states(db), ['expired', 'rejected', 'queued']);
    await checkMoney(db);
  });
});
