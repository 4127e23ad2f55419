/** Deletion of old SMS rows, on both engines: the rows that go, and those that stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Db } from '#db/open.ts';
import { storeDeliveryAttempts } from '#db/tables/sms/delivery-attempts.ts';
import { storeReceipts } from '#db/tables/sms/receipts.ts';
import { storeReplies } from '#db/tables/sms/replies.ts';
import { storeUnread } from '#db/tables/sms/unread.ts';
import type { DeliveryAttempt } from '#model/webhook.ts';
import { forgetOldSms } from '#sms/retention.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, readParts } from '../support/sms/sms-queue.ts';

const DAY_MS = 24 * 3_600_000;
const NOW = 100 * DAY_MS;
const GOING_ON = new AbortController().signal;

describeOnBothEngines('SMS that is old', (newDatabase) => {
  test('an old message is deleted with all its rows when it has ended; the ledger stays', async (t) => {
    const db = await openSmsDatabase(await newDatabase(t));
    t.after(() => db[Symbol.asyncDispose]());
    const account = await openSmsAccount(db, { now: 1 });
    const queue = (ageDays: number, texts = ['a', 'b']) =>
      queueMessage(db, account, { texts, now: NOW - ageDays * DAY_MS, expireAt: NOW + DAY_MS });
    const waiting = await queue(60);
    const [old = 0] = await queue(50);
    await db.query.insertInto('sms_attempt').values(attemptOf(old)).execute();
    const young = await queue(29);
    await end(db, waiting.slice(0, 1));
    await end(db, [old, old + 1, ...young]);
    for (const ageDays of [40, 20, 6]) {
      const at = NOW - ageDays * DAY_MS;
      await db.transaction((trx) => storeReceipts(trx, [RECEIPT, RECEIPT], at, 'submit'));
      await db.transaction((trx) => storeReplies(trx, [REPLY], at));
      await db.transaction((trx) => storeUnread(trx, [UNREAD], at));
    }
    // One of each age speaks of a part.
    await sql`update sms_receipt set part_id = ${old} where id % 2 = 0`.execute(db.query);
    await addDeliveries(db, account.appId, [NOW - 3 * DAY_MS, NOW - DAY_MS]);
    const attempts = [40, 20].map((ageDays) => ({ ...ATTEMPT, appId: account.appId, at: NOW - ageDays * DAY_MS }));
    await db.transaction((trx) => storeDeliveryAttempts(trx, attempts));

    await forgetOldSms({ db, smsDays: 30 }, NOW, GOING_ON);
    assert.deepEqual(
      (await readParts(db)).map(({ id }) => id),
      [...waiting, ...young],
    );
    assert.deepEqual(await countRows(db), {
      ...{
        sms_request: 2,
        sms_message: 2,
        sms_attempt: 0,
        sms_receipt: 3,
        sms_reply: 2,
        sms_unread: 2,
        sms_delivery: 1,
        sms_delivery_attempt: 1,
      },
    });
    assert.equal((await db.query.selectFrom('sms_ledger').select('id').execute()).length, 1 + 6 + 5);
    await checkMoney(db);
  });

  test('old messages are deleted however many rows they have, a few at a time', async (t) => {
    const db = await openSmsDatabase(await newDatabase(t));
    t.after(() => db[Symbol.asyncDispose]());
    const account = await openSmsAccount(db, { now: 1 });
    const [part = 0] = await queueMessage(db, account, { now: 1, expireAt: NOW });
    await end(db, [part]);
    await copyMessages(db, 1_050);
    for (let n = 0; n < 25; n += 1) await end(db, await queueMessage(db, account, { now: 2 + n, expireAt: NOW }));
    await addDeliveries(
      db,
      account.appId,
      Array.from({ length: 2_100 }, () => 1),
    );
    await forgetOldSms({ db, smsDays: 30 }, NOW, GOING_ON);
    assert.deepEqual(await countRows(db), {
      ...{
        sms_request: 0,
        sms_message: 0,
        sms_attempt: 0,
        sms_receipt: 0,
        sms_reply: 0,
        sms_unread: 0,
        sms_delivery: 0,
        sms_delivery_attempt: 0,
      },
    });
    assert.deepEqual(await readParts(db), []);
    const [next = 0] = await queueMessage(db, account, { now: NOW });
    assert.ok(next > 1_050, 'no id comes again: the ledger has them');
  });
});

const ATTEMPT: Omit<DeliveryAttempt, 'appId' | 'at'> = {
  ...{ deliveryId: 1, event: 'receipt', sendid: '1', tookMs: 1, tries: 1 },
  ...{ outcome: 'delivered', status: 200, reason: '', answer: '' },
};

const RECEIPT = {
  connectorId: 1,
  carrierKeys: ['1'],
  destination: '+1',
  state: 'delivered',
  error: '',
  word: '',
  raw: '',
} as const;
const REPLY = { connectorId: 1, origin: '+1', text: 'a', isOptOut: false };

const UNREAD = { connectorId: 1, reason: 'cut', command: 'deliver_sm', octets: '00' };

function attemptOf(part_id: number) {
  return { part_id, connector_id: 1, sent_at: 1, ended_at: 1, outcome: 'lost', error: '' };
}

async function end(db: Db, parts: readonly number[]): Promise<void> {
  await db.query.updateTable('sms_part').set({ state: 'delivered' }).where('id', 'in', parts).execute();
  const holds = await db.query.selectFrom('sms_ledger').selectAll().where('part_id', 'in', parts).execute();
  const charges = holds.map(({ account_id, part_id }) => ({
    account_id,
    part_id,
    kind: 'charge',
    amount: 0,
    created_at: 1,
  }));
  await db.query.insertInto('sms_ledger').values(charges).execute();
}

/** Copies the message of the first request, each with its part. */
async function copyMessages(db: Db, count: number): Promise<void> {
  const message = await db.query.selectFrom('sms_message').selectAll().executeTakeFirstOrThrow();
  const part = await db.query.selectFrom('sms_part').selectAll().executeTakeFirstOrThrow();
  const rows = Array.from({ length: count }, () => ({ ...message, id: undefined }));
  const made = await db.query.insertInto('sms_message').values(rows).returning('id').execute();
  const parts = made.map(({ id }) => ({ ...part, id: undefined, message_id: id }));
  await db.query.insertInto('sms_part').values(parts).execute();
}

async function addDeliveries(db: Db, app_id: number, instants: readonly number[]): Promise<void> {
  const rows = instants.map((created_at) => ({
    ...{ app_id, kind: 'receipt', body: '{}', due_at: created_at, tries: 3, created_at, error: 'timeout' },
  }));
  await db.query.insertInto('sms_delivery').values(rows).execute();
}

const TABLES = [
  'sms_request',
  'sms_message',
  'sms_attempt',
  'sms_receipt',
  'sms_reply',
  'sms_unread',
  'sms_delivery',
  'sms_delivery_attempt',
] as const;

async function countRows(db: Db): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const { rows } = await sql<{ count: number | string }>`select count(*) as count from ${sql.table(table)}`.execute(
      db.query,
    );
    counts[table] = Number(rows[0]?.count);
  }
  return counts;
}
