/** The engine that charges by receipts, with a carrier that tells everything that one can. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { ALONE } from '#db/peers/peers.ts';
import { saveConnector, saveRoute } from '#db/tables/sms/connectors.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import type { ReceiptState, SubmitOutcome } from '#sms/carrier.ts';
import { startSmsEngine } from '#sms/engine.ts';
import { DEFAULT_WAITS } from '#sms/sweeper.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { receiptOf } from '../support/sms/carrier.ts';
import { accepted, connectScripted, ScriptedCarrier } from '../support/sms/scripted-carrier.ts';
import {
  checkMoney,
  openSmsAccount,
  openSmsDatabase,
  queueMessage,
  readParts,
  testRing,
} from '../support/sms/sms-queue.ts';

const SETTINGS: SmppSettings = {
  ...SMPP_DEFAULTS,
  ...{ kind: 'smpp', host: '127.0.0.1', port: 1, systemId: 'a', password: 'secret' },
};

describeOnBothEngines('an engine that charges by receipts', (newDatabase) => {
  test('an engine that charges by receipts charges for delivered parts, and pays the others back, once each', async (t) => {
    const db = await openSmsDatabase(await newDatabase(t));
    const ring = testRing();
    const carrier = new ScriptedCarrier();
    await db.transaction(async (trx) => {
      const id = await saveConnector(trx, ring, { name: 'a', enabled: true, settings: SETTINGS }, 1);
      await saveRoute(trx, { prefix: '', connectorIds: [id] });
    });
    const engine = await startSmsEngine({
      ...{ db, ring, owner: randomUUID(), registry: new Registry(), connect: connectScripted({ a: carrier }) },
      ...{ chargeAt: 'receipt', waits: { ...DEFAULT_WAITS, uncertainMs: 0 } },
      post: () => Promise.resolve({ kind: 'failed', reason: 'none' }),
      ...{ peers: ALONE, clock: systemClock, timers: systemTimers, random: () => 0 },
      log: createLogger({ level: 'silent', name: 'test' }),
    });
    t.after(async () => {
      await engine.stop(0);
      await db[Symbol.asyncDispose]();
    });
    const overtaken = Promise.withResolvers<SubmitOutcome>();
    carrier.answer = ({ text }) => {
      if (text === 'overtaken') return overtaken.promise;
      if (text === 'lost') return { kind: 'uncertain', reason: 'timeout' };
      return text === 'wrong' ? { kind: 'refused', status: '0x0000000b', class: 'permanent' } : accepted(text);
    };
    const account = await openSmsAccount(db, { balance: 100, now: Date.now() });
    await queueMessage(db, account, { texts: ['good', 'bad', 'overtaken', 'untold'], now: Date.now() });
    for (const text of ['lost', 'wrong']) await queueMessage(db, account, { texts: [text], now: Date.now() });
    engine.wake();
    const untilStates = (...expected: string[]) =>
      eventually(`the parts are ${expected}`, async () => {
        assert.deepEqual(
          (await readParts(db)).map(({ state }) => state),
          expected,
        );
        return true;
      });
    const tell = (id: string, state: ReceiptState) => carrier.events?.receipt(receiptOf(id, { state }));
    await untilStates('submitted', 'submitted', 'submitting', 'submitted', 'unknown', 'failed');
    await Promise.all([
      tell('good', 'delivered'),
      tell('bad', 'undelivered'),
      tell('bad', 'undelivered'),
      tell('overtaken', 'undelivered'),
    ]);
    await tell('bad', 'delivered');
    overtaken.resolve(accepted('overtaken'));
    await untilStates('delivered', 'failed', 'failed', 'submitted', 'unknown', 'failed');
    await checkMoney(db, 'receipt');
    const { balance } = await db.query.selectFrom('sms_balance').select('balance').executeTakeFirstOrThrow();
    assert.equal(balance, 90);
  });
});

test('a connector without receipts causes a warning if receipts charge, each time it is opened', async (t) => {
  for (const [chargeAt, expected] of [
    ['receipt', ['none', 'failures']],
    ['submit', []],
  ] as const) {
    const db = await openSmsDatabase(await newSqlite(t));
    const ring = testRing();
    const carriers = { none: 0, all: 1, failures: 2 };
    await db.transaction(async (trx) => {
      for (const [name, registeredDelivery] of Object.entries(carriers))
        await saveConnector(
          trx,
          ring,
          { name, enabled: true, settings: { ...SETTINGS, systemId: name, registeredDelivery } },
          1,
        );
    });
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const engine = await startSmsEngine({
      ...{ db, ring, owner: randomUUID(), registry: new Registry(), chargeAt },
      connect: connectScripted({
        none: new ScriptedCarrier(),
        all: new ScriptedCarrier(),
        failures: new ScriptedCarrier(),
      }),
      post: () => Promise.resolve({ kind: 'failed', reason: 'none' }),
      ...{ peers: ALONE, clock: systemClock, timers: systemTimers, random: () => 0 },
      log: createLogger({ level: 'warn', name: 'test', destination }),
    });
    await engine.stop(0);
    await db[Symbol.asyncDispose]();
    const warned = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /^sms-charge-at is "receipt"/.test(msg));
    assert.deepEqual(
      warned.map(({ connector }) => connector),
      expected,
    );
  }
});
