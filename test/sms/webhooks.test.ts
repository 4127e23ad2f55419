/** Receipts and replies on their way to a customer's address: signed, sent again, and never to where they must not go. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import type { Db } from '#db/open.ts';
import { ALONE, type Controls } from '#db/peers/peers.ts';
import { queueDeliveries, saveWebhook } from '#db/tables/sms/deliveries.ts';
import { KEPT_ATTEMPTS, listDeliveryAttempts, storeDeliveryAttempts } from '#db/tables/sms/delivery-attempts.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { createWebhookSender } from '#roles/process/webhook-sender.ts';
import { createSmsMetrics } from '#sms/metrics.ts';
import { startWebhooks } from '#sms/webhooks.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openSmsAccount, openSmsDatabase, queueMessage, type SmsAccount, testRing } from '../support/sms/sms-queue.ts';

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A customer's address that answers as told, one after the other, and then with 204. */
async function startCustomer(t: TestContext, answers: readonly ((response: ServerResponse) => void)[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    const answer = answers[received.length - 1];
    if (answer === undefined) response.writeHead(204).end();
    else answer(response);
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const address = server.address();
  return { received, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

async function openWorld(
  t: TestContext,
  newDatabase: NewDatabase,
  { allow = ['127.0.0.0/8'], peers = ALONE }: { readonly allow?: readonly string[]; readonly peers?: Controls } = {},
) {
  const db = await openSmsDatabase(await newDatabase(t));
  const ring = testRing();
  const sender = createWebhookSender({ allow, refuse: [{ host: '127.0.0.1', port: 1 }] });
  const clock = { now: Date.now() };
  const metrics = createSmsMetrics(new Registry(), { lines: () => [] });
  const log = createLogger({ level: 'silent', name: 'test' });
  const webhooks = startWebhooks({
    db,
    peers,
    ring,
    clock: () => clock.now,
    timers: { ...systemTimers, now: () => clock.now },
    random: () => 0,
    log,
    metrics,
    post: sender.post,
  });
  t.after(async () => {
    await webhooks[Symbol.asyncDispose]();
    await sender[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });
  return { db, ring, clock };
}

/** Time from the end of a part until the carrier reports it. */
const TOLD_AFTER_MS = 1234;

async function tell(db: Db, account: SmsAccount, texts: readonly string[], now: number): Promise<void> {
  const endedParts = await queueMessage(db, account, { texts, now });
  await db.query
    .updateTable('sms_part')
    .set({ done_at: now - TOLD_AFTER_MS })
    .where('id', 'in', endedParts)
    .execute();
  await db.transaction((trx) => queueDeliveries(trx, { endedParts, replies: [] }, now));
}

const attemptsOf = (db: Db, { appId }: SmsAccount) => listDeliveryAttempts(db.query, appId);

const countQueued = async (db: Db) => (await db.query.selectFrom('sms_delivery').select('id').execute()).length;

describeOnBothEngines('webhooks', (newDatabase) => {
  test('webhooks are signed, and sent again until they are accepted; a service without an address has none', async (t) => {
    const { db, ring, clock } = await openWorld(t, newDatabase);
    const { received, port } = await startCustomer(t, [
      (response) => response.writeHead(500).end(),
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      (response) => response.destroy(),
    ]);
    const account = await openSmsAccount(db, { now: clock.now });
    await tell(db, await openSmsAccount(db, { now: clock.now }), ['nobody asks'], clock.now);
    const url = `http://127.0.0.1:${port}/hook?a=1`;
    await db.transaction((trx) => saveWebhook(trx, ring, account.appId, { url, secret: 'the secret' }));
    const { settings } = await db.query
      .selectFrom('sms_app')
      .select('settings')
      .where('id', '=', account.appId)
      .executeTakeFirstOrThrow();
    assert.ok(!settings.includes('the secret'), 'it lies sealed');
    await tell(db, account, ['text'], clock.now);
    const endedAt = clock.now - TOLD_AFTER_MS;
    for (const times of [1, 2, 3, 4]) {
      await eventually(`it came ${times} times`, () => received.length === times);
      await eventually('and its fate is stored', async () => {
        const rows = await db.query.selectFrom('sms_delivery').select(['due_at', 'error']).execute();
        return times === 4
          ? rows.length === 0
          : rows[0]?.error !== '' && Number(rows[0]?.due_at) !== clock.now + 60_000;
      });
      clock.now += 3_600_000;
    }
    assert.equal(new Set(received.map(({ body }) => body)).size, 1);
    for (const { headers, body } of received) {
      const [, at = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-causeway-signature'])) ?? [];
      assert.equal(signature, createHmac('sha256', 'the secret').update(`${at}.${body}`).digest('hex'));
      assert.equal(headers['x-causeway-delivery'], received[0]?.headers['x-causeway-delivery']);
    }
    await eventually('the attempts are kept', async () => (await attemptsOf(db, account)).length === 4);
    assert.deepEqual(
      (await attemptsOf(db, account)).map(({ tries, outcome, status, event }) => [tries, outcome, status, event]),
      [
        [4, 'delivered', 204, 'receipt'],
        [3, 'retry', 0, 'receipt'],
        [2, 'retry', 302, 'receipt'],
        [1, 'retry', 500, 'receipt'],
      ],
    );
    const { sendid, time, ...told } = JSON.parse(received[0]?.body ?? '');
    assert.equal((await attemptsOf(db, account))[0]?.sendid, sendid);
    assert.equal(typeof sendid, 'string');
    assert.equal(time, endedAt, 'when it ended, not when we heard of it');
    assert.deepEqual(told, {
      event: 'receipt',
      mobile: '+8613800138000',
      part: 1,
      parts: 1,
      state: 'queued',
      error: '',
      word: '',
    });
  });

  test('the last attempts of each service are kept, and no more', async (t) => {
    const db = await openSmsDatabase(await newDatabase(t));
    t.after(() => db[Symbol.asyncDispose]());
    const [one, other] = [await openSmsAccount(db, { now: 1 }), await openSmsAccount(db, { now: 1 })];
    const attempts = (appId: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        ...({ appId, deliveryId: n, event: 'reply', sendid: '', at: n, tookMs: 1, tries: 1 } as const),
        ...({ outcome: 'delivered', status: 200, reason: '', answer: 'a\0\ud800' } as const),
      }));
    const all = [...attempts(one.appId, KEPT_ATTEMPTS + 20), ...attempts(other.appId, 3)];
    await db.transaction((trx) => storeDeliveryAttempts(trx, all));
    const kept = await attemptsOf(db, one);
    assert.deepEqual([kept.length, kept[0]?.at, kept.at(-1)?.at], [100, 119, 20]);
    assert.equal(kept[0]?.answer, 'a\ufffd\ufffd');
    assert.equal((await attemptsOf(db, other)).length, 3);
  });

  test('a control that may take no work, as its clock is wrong, posts nothing until it may', async (t) => {
    const peers = { ...ALONE, looks: 0, mayTake: false };
    Object.defineProperty(peers, 'mayClaim', {
      get() {
        peers.looks += 1;
        return peers.mayTake;
      },
    });
    const { db, ring, clock } = await openWorld(t, newDatabase, { peers });
    const { received, port } = await startCustomer(t, []);
    const account = await openSmsAccount(db, { now: clock.now });
    const url = `http://127.0.0.1:${port}/`;
    await db.transaction((trx) => saveWebhook(trx, ring, account.appId, { url, secret: 'the secret' }));
    await tell(db, account, ['text'], clock.now);
    const { looks } = peers;
    await eventually('it has looked twice', () => peers.looks >= looks + 2);
    assert.deepEqual([received.length, await countQueued(db)], [0, 1]);
    peers.mayTake = true;
    await eventually('it is posted', () => received.length === 1);
    await eventually('its queue is empty', async () => (await countQueued(db)) === 0);
  });

  test('a webhook address that never answers delays no other, and 410 ends its queue', async (t) => {
    const { db, ring, clock } = await openWorld(t, newDatabase);
    const stuck = await startCustomer(
      t,
      Array.from({ length: 200 }, () => () => {}),
    );
    const gone = await startCustomer(t, [(response) => response.writeHead(410).end()]);
    const well = await startCustomer(t, []);
    for (const [{ port }, count] of [
      [stuck, 100],
      [gone, 1],
      [well, 10],
    ] as const) {
      const account = await openSmsAccount(db, { now: clock.now });
      const url = `http://127.0.0.1:${port}/`;
      await db.transaction((trx) => saveWebhook(trx, ring, account.appId, { url, secret: 's' }));
      await tell(
        db,
        account,
        Array.from({ length: count }, (_, n) => `${n}`),
        clock.now,
      );
    }
    await eventually('the others have theirs', () => well.received.length === 10 && gone.received.length === 1);
    await eventually('only what nobody answers is left', async () => (await countQueued(db)) === 100);
  });

  test('webhooks wait for a secret that an export left out', async (t) => {
    const { db, ring, clock } = await openWorld(t, newDatabase);
    const { received, port } = await startCustomer(t, []);
    const account = await openSmsAccount(db, { now: clock.now });
    const url = `http://127.0.0.1:${port}/`;
    const settings = JSON.stringify({ webhookUrl: url });
    await db.query.updateTable('sms_app').set({ settings }).where('id', '=', account.appId).execute();
    await tell(db, account, ['text'], clock.now);
    await eventually('it was looked at', async () => {
      const rows = await db.query.selectFrom('sms_delivery').select('error').execute();
      return rows[0]?.error === 'secret';
    });
    await db.transaction((trx) => saveWebhook(trx, ring, account.appId, { url, secret: 'anew' }));
    clock.now += 3_600_000;
    await eventually('it came', () => received.length === 1);
  });

  test('webhooks are sent to no address of this machine or its network, whatever a name or a number in a URL says', async (t) => {
    const { db, ring, clock } = await openWorld(t, newDatabase, { allow: [] });
    const { received, port } = await startCustomer(t, []);
    const urls = ['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '169.254.169.254'];
    for (const host of urls) {
      const account = await openSmsAccount(db, { now: clock.now });
      await db.transaction((trx) =>
        saveWebhook(trx, ring, account.appId, { url: `http://${host}:${port}/`, secret: 's' }),
      );
      await tell(db, account, ['text'], clock.now);
    }
    await eventually('all were tried', async () => {
      const rows = await db.query.selectFrom('sms_delivery').select(['error', 'tries']).execute();
      return rows.every(({ error, tries }) => tries === 1 && error !== '');
    });
    assert.equal(received.length, 0);
  });
});
