/** Hints of changed messages: their receivers, their rate, and the rows behind them. docs/decisions/0690 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MessageWatch } from '#api/watch/message-watch.ts';
import type { Db } from '#db/open.ts';
import { noteMessages } from '#db/tables/sms/message-watch.ts';
import { createProcedures } from '#sms/procedures.ts';
import type { Round } from '#sms/round.ts';
import { startTestApi } from '../support/api/api.ts';
import { openWatch, type TestWatch } from '../support/api/watch.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startSmsApi } from '../support/sms/sms-customers.ts';
import { openSmsAccount, openSmsDatabase, queueMessage, readParts } from '../support/sms/sms-queue.ts';
import { accepted } from '../support/sms/sms-steps.ts';

const NOW = Date.UTC(2026, 0, 31);

async function openDatabase(t: TestContext, newDatabase: NewDatabase): Promise<Db> {
  const db = await openSmsDatabase(await newDatabase(t));
  t.after(() => db[Symbol.asyncDispose]());
  return db;
}

const messagesIn = ({ events }: TestWatch) => events.filter(({ name }) => name === 'message').length;

async function watched(db: Db): Promise<readonly number[]> {
  const rows = await db.query.selectFrom('sms_watch').select('account_id').orderBy('account_id').execute();
  return rows.map(({ account_id }) => account_id);
}

describeOnBothEngines('hints of messages', (newDatabase) => {
  test('a message and each of its states is a hint for its account, and for nobody else', async (t) => {
    const { api, me, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    const operator = await api.join('operator', ['operator']);
    const cdnOnly = await api.issue(me.accountId, { scopes: ['cdn'] });
    const own = await openWatch(t, api, me.accessToken, { kinds: ['message'] });
    const others = [
      await openWatch(t, api, other.accessToken, { kinds: ['message'] }),
      await openWatch(t, api, operator.accessToken, { kinds: ['message'] }),
      await openWatch(t, api, cdnOnly, { kinds: ['message', 'domain'] }),
    ];
    assert.deepEqual(others[2]?.events[0]?.data['kinds'], ['domain'], 'a token without the scope is told so');
    const { sendid } = (await me.send()).body;
    await eventually('the message is told', () => messagesIn(own) === 1);
    const hint = own.events.find(({ name }) => name === 'message')?.data;
    assert.deepEqual(
      { ...hint, at: 0 },
      { kind: 'message', id: String(me.accountId), at: 0, hint: 'messages' },
      'a hint has no data',
    );
    assert.ok(!JSON.stringify(hint).includes(String(sendid)));
    const [part] = await readParts(api.db);
    const round: Round = {
      ...{ events: [], submissions: [], claims: [], owner: 'me', leaseUntil: NOW, chargeAt: 'submit' },
      results: [{ partId: part?.id ?? 0, connectorId: 1, sentAt: NOW, endedAt: NOW, outcome: accepted('c1') }],
      now: NOW,
    };
    await api.db.transaction((trx) => createProcedures().round(trx, round));
    api.now += 1_000;
    await eventually('the state is told', () => messagesIn(own) === 2);
    assert.deepEqual(others.map(messagesIn), [0, 0, 0]);
  });

  test('a message that one control accepts is told by another', async (t) => {
    const target = await newDatabase(t);
    const { me } = await startSmsApi(t, async () => target);
    const second = await startTestApi(t, async () => target);
    const watch = await openWatch(t, second, me.accessToken, { kinds: ['message'] });
    await me.send();
    await eventually('it is told', () => messagesIn(watch) === 1);
  });

  test('a stream that goes on is told once, since no position says what was missed', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    const before = await openWatch(t, api, me.accessToken, { kinds: ['message'] });
    before.close();
    const next = await openWatch(t, api, me.accessToken, { kinds: ['message'], after: '0-0' });
    await eventually('it is told', () => messagesIn(next) === 1);
  });

  test('an account is told at most once a second, and of the last change in any case', async (t) => {
    const db = await openDatabase(t, newDatabase);
    const watch = new MessageWatch();
    await watch.follow(db.query, 1, NOW);
    const note = () => db.transaction((trx) => noteMessages(trx, { accountIds: [1, 2] }));
    const look = async (ms: number) => (await watch.look(db.query, new Set([1]), NOW + ms)).length;
    assert.equal(await look(0), 0, 'nothing has changed');
    await note();
    assert.equal(await look(1), 1);
    for (let n = 0; n < 5; n += 1) await note();
    assert.deepEqual([await look(2), await look(1_000)], [0, 0]);
    assert.equal(await look(1_001), 1);
    assert.equal(await look(5_000), 0);
  });

  test('accounts are forgotten when nobody watches them', async (t) => {
    const db = await openDatabase(t, newDatabase);
    const [one, two] = [new MessageWatch(), new MessageWatch()];
    await one.follow(db.query, 1, NOW);
    await two.follow(db.query, 2, NOW);
    await two.look(db.query, new Set([2]), NOW + 59_000);
    assert.deepEqual(await watched(db), [1, 2]);
    await two.look(db.query, new Set([2]), NOW + 90_000);
    assert.deepEqual(await watched(db), [2]);
    await two.look(db.query, new Set(), NOW + 91_000);
    await two.follow(db.query, 2, NOW + 92_000);
    await db.transaction((trx) => noteMessages(trx, { accountIds: [2] }));
    assert.equal((await two.look(db.query, new Set([2]), NOW + 92_001)).length, 1, 'it can be followed again');
  });

  test('parts count for their account, and changes of many accounts at once wait for each other in order', async (t) => {
    const db = await openDatabase(t, newDatabase);
    const watch = new MessageWatch();
    const account = await openSmsAccount(db, { now: NOW });
    const { accountId } = account;
    const partIds = await queueMessage(db, account, { now: NOW });
    for (const id of [accountId, 1001, 1002]) await watch.follow(db.query, id, NOW);
    const all = new Set([accountId, 1001, 1002]);
    await db.transaction((trx) => noteMessages(trx, { partIds }));
    const told = await watch.look(db.query, all, NOW);
    assert.deepEqual(
      told.map((hint) => hint.accountId),
      [accountId],
    );
    const orders = [
      [1001, 1002],
      [1002, 1001],
    ];
    const notes = Array.from({ length: 20 }, (_, n) =>
      db.transaction((trx) => noteMessages(trx, { accountIds: orders[n % 2] ?? [] })),
    );
    await Promise.all(notes);
    const rows = await db.query.selectFrom('sms_watch').select('version').where('account_id', '>', 1000).execute();
    assert.deepEqual(
      rows.map(({ version }) => version),
      [20, 20],
    );
  });
});
