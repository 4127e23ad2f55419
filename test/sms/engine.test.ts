/** The engine on both engines of the database, before carriers that do what a test says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { findSmsAppsById } from '#db/tables/sms/apps.ts';
import { saveConnector } from '#db/tables/sms/connectors.ts';
import { createLogger } from '#lib/logger.ts';
import { SMPP_DEFAULTS } from '#model/sms-connector.ts';
import { Acceptor } from '#sms/acceptor.ts';
import type { SubmitOutcome } from '#sms/carrier.ts';
import { DEFAULT_WAITS } from '#sms/sweeper.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { receiptOf, replyOf } from '../support/sms/carrier.ts';
import { openEngineWorld, untilStates } from '../support/sms/engine-world.ts';
import { accepted } from '../support/sms/scripted-carrier.ts';
import { checkMoney, openSmsAccount, queueMessage, readParts } from '../support/sms/sms-queue.ts';
import { referenceTo } from '../support/sms/sms-steps.ts';

const GRACE_MS = 5000;

const refused = (status: string, kind: Extract<SubmitOutcome, { kind: 'refused' }>['class']): SubmitOutcome => ({
  kind: 'refused',
  status,
  class: kind,
});

describeOnBothEngines('the SMS engine', (newDatabase) => {
  test('parts are sent in order over one connector, and receipts settle them, even early ones', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: Date.now() });
    await queueMessage(db, account, { texts: ['1', '2', '3'], now: Date.now() });
    const answers = [0, 1, 2].map(() => Promise.withResolvers<SubmitOutcome>());
    a.answer = (_part, n) => answers[n - 1]?.promise ?? accepted('more');
    await start();
    await eventually('all are out', () => a.submitted.length === 3);
    assert.deepEqual(
      a.submitted.map(({ text, part, parts, reference }) => [text, part, parts, reference]),
      [
        ['1', 1, 3, 7],
        ['2', 2, 3, 7],
        ['3', 3, 3, 7],
      ],
    );
    assert.deepEqual(
      a.submitted.map(({ texts }) => texts.join()),
      ['1,2,3', '1,2,3', '1,2,3'],
    );
    const receipt = (id: string) => a.events?.receipt(receiptOf(id, { keys: [id, 'other form'] }));
    await receipt('k2');
    for (const [n, answer] of answers.entries()) answer.resolve(accepted(`k${n + 1}`));
    await untilStates(db, 'submitted', 'delivered', 'submitted');
    await Promise.all([receipt('k1'), receipt('k3'), receipt('k3')]);
    await untilStates(db, 'delivered', 'delivered', 'delivered');
    await checkMoney(db);
  });

  test('a throttled part is sent again before later ones, and costs no try; a wrong number is paid back', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { balance: 100, now: Date.now() });
    a.window = 1;
    a.answer = ({ text }, n) => {
      if (n <= 2) return refused('0x00000058', 'throttled');
      return text === 'wrong' ? refused('0x0000000b', 'permanent') : accepted(`k${n}`);
    };
    const now = Date.now();
    for (const [n, text] of ['first', 'wrong', 'last'].entries())
      await queueMessage(db, account, { texts: [text], now: now - 10 + n });
    await start();
    await untilStates(db, 'submitted', 'failed', 'submitted');
    assert.deepEqual(
      a.submitted.map(({ text }) => text),
      ['first', 'first', 'first', 'wrong', 'last'],
    );
    assert.deepEqual(
      (await readParts(db)).map(({ tries, sends, error }) => [tries, sends, error]),
      [
        [0, 1, ''],
        [0, 0, '0x0000000b'],
        [0, 1, ''],
      ],
    );
    await checkMoney(db);
  });

  test('the next connector takes over while the first is down, except for messages that the first has begun', async (t) => {
    const { db, a, b, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: Date.now() });
    a.window = 1;
    a.answer = () => {
      a.move('connecting');
      return accepted('k1');
    };
    await queueMessage(db, account, { texts: ['1', '2'], now: Date.now() - 10 });
    await queueMessage(db, account, { texts: ['other'], now: Date.now() });
    await start();
    await untilStates(db, 'submitted', 'queued', 'submitted');
    assert.deepEqual(
      [a.submitted, b.submitted].map((parts) => parts.map(({ text }) => text)),
      [['1'], ['other']],
    );
    a.move('bound');
    await untilStates(db, 'submitted', 'submitted', 'submitted');
    assert.deepEqual(
      a.submitted.map(({ text }) => text),
      ['1', '2'],
    );
    await checkMoney(db);
  });

  test('a part without an answer is uncertain, and is not sent again until a late answer or a receipt decides', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: Date.now() });
    a.answer = () => ({ kind: 'uncertain', reason: 'timeout' });
    const [late = 0] = await queueMessage(db, account, { now: Date.now() });
    const [told = 0] = await queueMessage(db, account, { destination: '+85291234567', now: Date.now() });
    await start();
    await untilStates(db, 'uncertain', 'uncertain');
    a.events?.lateAnswer(late, accepted('k1'));
    const elsewhere = { destination: '+85291234567', number: '+85291234567', reference: referenceTo(told) };
    await a.events?.receipt(receiptOf('k2', elsewhere));
    await untilStates(db, 'submitted', 'delivered');
    assert.equal(a.submitted.length, 2);
    await checkMoney(db);
  });

  test('a notice of a service that prefers duplicates is sent again unchanged, and is marked', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { settings: { resendUncertain: true }, now: Date.now() });
    a.answer = (_part, n) => (n === 1 ? { kind: 'uncertain', reason: 'disconnected' } : accepted('k'));
    await queueMessage(db, account, { smsType: 2, reference: 200, now: Date.now() });
    await start({ waits: { ...DEFAULT_WAITS, resendMs: 0 } });
    await untilStates(db, 'submitted');
    const [first, second] = a.submitted.map((part) => ({ ...part, validitySeconds: 0, dueAt: 0 }));
    assert.deepEqual(first, second);
    assert.deepEqual(
      (await readParts(db)).map(({ sends }) => sends),
      [2],
    );
    await checkMoney(db);
  });

  test('advertising that falls due after its hours waits for them; a notice does not', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const now = Date.now();
    const hour = new Date(now).getUTCHours();
    const marketingHours = { from: ((hour + 2) % 24) * 60, to: ((hour + 3) % 24) * 60, timeZone: 'UTC' };
    const account = await openSmsAccount(db, { settings: { marketingHours }, now });
    await queueMessage(db, account, { kind: 'advertising', expireAt: now + 60_000, now: now - 1 });
    await queueMessage(db, account, { now });
    await start();
    await untilStates(db, 'queued', 'submitted');
    const [held] = await readParts(db);
    const waits = Number(held?.due_at) - now;
    assert.ok(waits > 3_600_000 && waits <= 2 * 3_600_000, `${waits} ms`);
    assert.ok(Number(held?.expire_at) > Number(held?.due_at));
    assert.deepEqual([held?.tries, held?.sends, held?.submitted_at, a.submitted.length], [0, 0, null, 1]);
    await checkMoney(db);
  });

  test('a reply that opts out applies to the account that wrote to the number last', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: Date.now() });
    const later = Date.now() + 3_600_000;
    await queueMessage(db, account, { kind: 'advertising', dueAt: later, expireAt: later + 1, now: Date.now() });
    await queueMessage(db, account, { dueAt: later, expireAt: later + 1, now: Date.now() });
    await start();
    const reply = (origin: string, text: string) => a.events?.reply(replyOf(origin, text));
    await Promise.all([reply('+8613800138000', 'Thank you'), reply('+8613900139000', 'TD')]);
    assert.deepEqual(
      (await readParts(db)).map(({ state }) => state),
      ['queued', 'queued'],
    );
    const octets = Buffer.from('cdcbb6a9', 'hex');
    await a.events?.reply(replyOf('+8613800138000', 'hex:cdcbb6a9', { isText: false, coding: 246, octets }));
    assert.deepEqual(
      (await readParts(db)).map(({ state }) => state),
      ['rejected', 'queued'],
    );
    const numbers = await db.query.selectFrom('sms_opt_out').select(['account_id', 'number']).execute();
    assert.deepEqual(
      numbers.map((row) => ({ ...row })),
      [{ account_id: account.accountId, number: '+8613800138000' }],
    );
    await checkMoney(db);
  });

  test('a receipt that is not final ends nothing, and its word is stored', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: Date.now() });
    await queueMessage(db, account, { now: Date.now() });
    a.answer = () => accepted('k');
    await start();
    await untilStates(db, 'submitted');
    const words = async () => (await readParts(db)).map(({ error, last_word }) => [error, last_word]);
    await a.events?.receipt(receiptOf('k', { state: 'undelivered', isFinal: false, word: 'UNDELIV/027' }));
    await a.events?.receipt(receiptOf('k', { state: 'enroute', isFinal: false, word: 'ENROUTE' }));
    await untilStates(db, 'submitted');
    assert.deepEqual(await words(), [['', 'ENROUTE']]);
    await a.events?.receipt(receiptOf('k', { state: 'undelivered', word: 'MK:0012' }));
    await untilStates(db, 'failed');
    await a.events?.receipt(receiptOf('k', { state: 'enroute', isFinal: false, word: 'ENROUTE' }));
    assert.deepEqual(await words(), [['MK:0012', 'MK:0012']], 'what ended it stays');
    await checkMoney(db);
  });

  test('a delivery that cannot be read is stored before it is acknowledged, with its readable fields', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    await openSmsAccount(db, { now: Date.now() });
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    await start({ log: createLogger({ level: 'warn', name: 'test', destination }) });
    const unread = { reason: 'cut', command: 'deliver_sm', octets: Buffer.from('00ff', 'hex') } as const;
    await Promise.all([a.events?.unread(unread), a.events?.receipt(receiptOf('k')), a.events?.unread(unread)]);
    const rows = await db.query.selectFrom('sms_unread').select(['reason', 'command', 'octets']).execute();
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      Array(2).fill({ ...unread, octets: '00ff' }),
    );
    assert.equal((await db.query.selectFrom('sms_receipt').select('id').execute()).length, 1);
    assert.equal(lines.filter((line) => line.includes('cannot parse a message')).length, 1, 'not a line for each');
  });

  test('the rate counts parts, not messages (jasmin#925, ksmppd#126), and an edited connector continues at the new rate', async (t) => {
    const { db, a, b, ring, start } = await openEngineWorld(t, newDatabase, 20);
    const account = await openSmsAccount(db, { now: Date.now() });
    const begun = performance.now();
    for (let n = 0; n < 4; n += 1) await queueMessage(db, account, { texts: ['1', '2', '3'], now: Date.now() });
    const engine = await start();
    await eventually('six parts are out', () => a.submitted.length >= 6);
    assert.ok(performance.now() - begun >= 150, 'of 20 a second, with 2 at once, six take a fifth of a second');
    await db.transaction((trx) => {
      const settings = {
        ...SMPP_DEFAULTS,
        kind: 'smpp',
        host: '127.0.0.1',
        port: 1,
        systemId: 'a',
        password: 'x',
      } as const;
      return saveConnector(trx, ring, { name: 'a', enabled: true, settings }, 2);
    });
    a.state = 'bound';
    await engine.reload();
    a.state = 'bound'; // the test's carrier is one and the same before and after
    await untilStates(db, ...Array.from({ length: 12 }, () => 'submitted'));
    // While it is opened anew, the other takes what it has not begun.
    assert.equal(a.submitted.length + b.submitted.length, 12);
    await checkMoney(db);
  });

  test('a message accepted for a removed route is sent by the route that fits it', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: Date.now() });
    const queue = (route: string) => queueMessage(db, account, { route, destination: '+85261234567', now: Date.now() });
    await queue('+8526');
    await queue('');
    await start();
    await untilStates(db, 'submitted', 'submitted');
    assert.equal(a.submitted.length, 2);
  });

  test('requests share a round; one that fails by a fault of ours fails alone, and no answer of a carrier is lost', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const { accountId, appId } = await openSmsAccount(db, { balance: 100, now: Date.now() });
    const [app] = await findSmsAppsById(db.query, [appId]);
    const engine = await start();
    let isShared = false;
    const acceptor = new Acceptor({
      ...{ db, maxWaiting: 1000, onAccepted: () => engine.wake() },
      offer: (waiting) => {
        const isTaken = engine.offer(waiting);
        isShared ||= isTaken;
        return isTaken;
      },
    });
    const submit = (n: number, sendid = `sendid ${n}`) =>
      acceptor.submit({
        ...{ accountId, appKey: app?.appKey ?? '', kind: 'ordinary', smsType: 1, mobile: '13800138000' },
        ...{ content: `message+${n}`, replayHash: `hash ${n}`, sendid, now: Date.now() },
      });
    await Promise.all([submit(0), submit(1)]);
    await eventually('both are out', () => a.submitted.length === 2);
    // The serial number is there already, which cannot be: meanwhile the answers to the first ones are stored.
    const settled = await Promise.allSettled([submit(2), submit(3, 'sendid 0'), submit(4)]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    await untilStates(db, 'submitted', 'submitted', 'submitted', 'submitted');
    assert.deepEqual(a.submitted.map(({ text }) => text).toSorted(), [
      'message 0',
      'message 1',
      'message 2',
      'message 4',
    ]);
    assert.ok(isShared);
    await engine.stop(GRACE_MS);
    assert.equal((await submit(5)).kind, 'accepted', 'without the engine too');
    await checkMoney(db);
  });

  test('two engines on one database send nothing twice', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: Date.now() });
    a.window = 3;
    for (let n = 0; n < 20; n += 1) await queueMessage(db, account, { texts: [`${n}-1`, `${n}-2`], now: Date.now() });
    const engines = await Promise.all([start(), start()]);
    await untilStates(db, ...Array.from({ length: 40 }, () => 'submitted'));
    assert.equal(new Set(a.submitted.map(({ text }) => text)).size, 40);
    assert.equal(a.submitted.length, 40);
    await Promise.all(engines.map((engine) => engine.stop(GRACE_MS)));
    await checkMoney(db);
  });
});

test('idle rounds are as far apart as checks for messages that another process has accepted', async (t) => {
  const { db, a, start } = await openEngineWorld(t, newSqlite);
  await queueMessage(db, await openSmsAccount(db, { now: Date.now() }), { texts: ['1'], now: Date.now() });
  const registry = new Registry();
  await start({ registry });
  await untilStates(db, 'submitted');
  assert.ok(a.room > 0);
  const rounds = async () => {
    const metric = await registry.getSingleMetric('causeway_sms_round_duration_seconds')?.get();
    const count = metric?.values.find((value) => 'metricName' in value && String(value.metricName).endsWith('_count'));
    return count?.value ?? 0;
  };
  const [before, beganAt] = [await rounds(), performance.now()];
  await eventually('some more rounds', async () => (await rounds()) >= before + 5);
  assert.ok(performance.now() - beganAt > 500, 'one after the other, without a pause');
});
