/** Claims of connectors whose carriers need the parts of a message together, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openSmsAccount, openSmsDatabase, queueMessage } from '../support/sms/sms-queue.ts';
import { accepted, claim, NOW, store } from '../support/sms/sms-steps.ts';

const textsOf = (count: number) => Array.from({ length: count }, (_, n) => `${n + 1}`);
const whole = async (db: Db, limit: number, after = 0) =>
  (await claim(db, { limit, after, wholeMessages: true })).map(({ id }) => id);

describeOnBothEngines('claims of whole messages', (newDatabase) => {
  test('the parts of a message are claimed together, one after the other, or not at all', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const single = await queueMessage(db, account, { now: NOW - 3 });
    const nine = await queueMessage(db, account, { texts: textsOf(9), now: NOW - 2 });
    const two = await queueMessage(db, account, { texts: textsOf(2), now: NOW - 1 });
    assert.deepEqual(await whole(db, 9), single, 'nine do not fit into eight');
    assert.deepEqual(await whole(db, 8), [], 'nor does the next message pass');
    assert.deepEqual(await whole(db, 10), nine);
    assert.deepEqual(await whole(db, 10), two);
  });

  test('a message that the limit of a query cuts is left out', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const messages: number[][] = [];
    for (let n = 0; n < 20; n += 1)
      messages.push(await queueMessage(db, account, { texts: textsOf(1 + (n % 9)), now: NOW - 100 + n }));
    const claimed: number[] = [];
    for (let limit = 9; claimed.length < messages.flat().length; limit = 9 + (limit % 7)) {
      const ids = await whole(db, limit);
      assert.ok(ids.length > 0 && ids.length <= limit);
      for (const own of messages) assert.ok([0, own.length].includes(own.filter((id) => ids.includes(id)).length));
      claimed.push(...ids);
    }
    assert.deepEqual(claimed, messages.flat(), 'in their order');
  });

  test('accounts take turns by messages', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const [a, b] = [await openSmsAccount(db, { now: NOW }), await openSmsAccount(db, { now: NOW })];
    const ofA = [];
    for (let n = 0; n < 3; n += 1) ofA.push(await queueMessage(db, a, { texts: textsOf(3), now: NOW - 100 + n }));
    const ofB = [];
    for (let n = 0; n < 3; n += 1) ofB.push(await queueMessage(db, b, { texts: textsOf(2), now: NOW - 10 + n }));
    const [a1 = [], a2 = [], a3 = []] = ofA;
    const [b1 = [], b2 = [], b3 = []] = ofB;
    assert.deepEqual(await whole(db, 9), [...a1, ...b1, ...a2]);
    assert.deepEqual(await whole(db, 9, a.accountId), [...b2, ...a3, ...b3]);
  });

  test('what is left of a message goes out together with nothing missing', async (t) => {
    await using db = await openSmsDatabase(await newDatabase(t));
    const account = await openSmsAccount(db, { now: NOW });
    const [first = 0, second = 0, third = 0] = await queueMessage(db, account, { texts: textsOf(3), now: NOW });
    assert.deepEqual(await whole(db, 9), [first, second, third]);
    await store(db, [
      [first, accepted('a')],
      [second, { kind: 'postponed', error: '0x00000058' }],
      [third, { kind: 'postponed', error: '0x00000058' }],
    ]);
    assert.deepEqual(await whole(db, 1), []);
    assert.deepEqual(await whole(db, 2), [second, third]);
  });
});
