/** Whose turn it is, round after round: nobody waits for ever, whatever others have in which queue. docs/decisions/0333, 0400 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lane } from '#db/tables/sms/claim.ts';
import { saveRoute } from '#db/tables/sms/connectors.ts';
import { createProcedures } from '#sms/procedures.ts';
import type { Round } from '#sms/round.ts';
import { lanesOf } from '#sms/route.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import {
  openSmsAccount,
  openSmsDatabase,
  type QueuedMessage,
  queueMessage,
  type SmsAccount,
} from '../support/sms/sms-queue.ts';
import { NOW } from '../support/sms/sms-steps.ts';

const ALL = [{ route: '', minTries: 0, maxTries: 4 }];

async function openWorld(t: Parameters<NewDatabase>[0], newDatabase: NewDatabase, count: number) {
  const db = await openSmsDatabase(await newDatabase(t));
  t.after(() => db[Symbol.asyncDispose]());
  const accounts: SmsAccount[] = [];
  for (let n = 0; n < count; n += 1) accounts.push(await openSmsAccount(db, { now: NOW }));
  const procedures = createProcedures();
  return {
    queue: async (n: number, message: Partial<QueuedMessage> = {}) => {
      const account = accounts[n];
      assert.ok(account !== undefined);
      await queueMessage(db, account, { now: NOW, ...message });
    },
    /** Gives which accounts got a part, by their place, in order. */
    async round(limit: number, lanes: readonly Lane[] = ALL, connectorId = 1) {
      const round: Round = {
        ...{ results: [], events: [], submissions: [], claims: [{ connectorId, lanes, limit, wholeMessages: false }] },
        ...{ owner: 'me', leaseUntil: NOW + 60_000, chargeAt: 'submit', now: NOW },
      };
      const { claimed } = await db.transaction((trx) => procedures.round(trx, round));
      const [{ parts, isFull } = { parts: [], isFull: false }] = claimed;
      const got = parts.map(({ accountId }) => accounts.findIndex((account) => account.accountId === accountId));
      return { got, isFull };
    },
    db,
  };
}

describeOnBothEngines('turns of accounts', (newDatabase) => {
  test('turns of advertising continue, though ordinary messages of another account go between them', async (t) => {
    const { queue, round } = await openWorld(t, newDatabase, 3);
    for (let n = 0; n < 4; n += 1) for (const account of [0, 2]) await queue(account, { kind: 'advertising' });
    const got: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      await queue(1);
      got.push(...(await round(1)).got, ...(await round(1)).got);
    }
    assert.deepEqual(got, [1, 0, 1, 2, 1, 0, 1, 2]);
  });

  test('turns reach every account, with more accounts than a round serves on one route, and one on another', async (t) => {
    const { queue, round } = await openWorld(t, newDatabase, 41);
    for (let account = 0; account < 40; account += 1) for (let n = 0; n < 4; n += 1) await queue(account);
    for (let n = 0; n < 20; n += 1) await queue(40, { route: '+852', destination: '+85261234567' });
    const lanes = [...ALL, { route: '+852', minTries: 0, maxTries: 4 }];
    const served = new Set<number>();
    for (let n = 0; n < 3; n += 1) for (const account of (await round(33, lanes)).got) served.add(account);
    assert.equal(served.size, 41);
  });

  test('turns continue at once if more accounts wait than a round serves and there is room left', async (t) => {
    const { queue, round } = await openWorld(t, newDatabase, 40);
    for (let account = 0; account < 40; account += 1) await queue(account);
    const first = await round(100);
    assert.deepEqual([first.got.length, first.isFull], [32, true]);
    const second = await round(100);
    assert.deepEqual([second.got.length, second.isFull], [8, false]);
  });

  test('turns are not held by an account that has only the rest of a message begun by another connector', async (t) => {
    const { queue, round } = await openWorld(t, newDatabase, 3);
    await queue(0, { texts: ['long 1', 'long 2'] });
    assert.deepEqual((await round(1, ALL, 7)).got, [0]);
    for (const account of [1, 2]) await queue(account);
    // Connector 7 is down now, and the next one of the route has room for one part, as one with a small rate has.
    assert.deepEqual([(await round(1)).got, (await round(1)).got, (await round(1)).got], [[1], [2], []]);
    assert.deepEqual((await round(1, ALL, 7)).got, [0]);
  });

  test('turns reach the rest of an ordinary message before that of advertising, even on a route the connector lost', async (t) => {
    const { queue, round } = await openWorld(t, newDatabase, 2);
    await queue(0, { kind: 'advertising', texts: ['1', '2', '3', '4'], dueAt: NOW - 1 });
    assert.deepEqual((await round(1)).got, [0]);
    await queue(1, { texts: ['1', '2'] });
    assert.deepEqual((await round(1)).got, [1]);
    assert.deepEqual([(await round(1, [])).got, (await round(1, [])).got], [[1], [0]]);
  });

  test('turns reach parts with more tries than their changed route has connectors', async (t) => {
    const { db, queue, round } = await openWorld(t, newDatabase, 1);
    await queue(0);
    await db.query.updateTable('sms_part').set({ tries: 7 }).execute();
    const route = { prefix: '', connectorIds: [1] };
    await db.transaction((trx) => saveRoute(trx, route));
    const lanes = lanesOf(1, [route], () => true, 5);
    assert.deepEqual((await round(10, lanes)).got, [0]);
  });
});
