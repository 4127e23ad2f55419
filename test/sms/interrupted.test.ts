/** What a process that was killed had given to connectors, on both engines: to carriers, and to nobody. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import type { Db } from '#db/open.ts';
import { ALONE } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { listConnectors, saveConnector, saveRoute } from '#db/tables/sms/connectors.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import { connectLoopback } from '#sms/connectors/loopback.ts';
import { type SmsEngine, startSmsEngine } from '#sms/engine.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { connectScripted, ScriptedCarrier } from '../support/sms/scripted-carrier.ts';
import {
  checkMoney,
  openSmsAccount,
  openSmsDatabase,
  queueMessage,
  readParts,
  testRing,
} from '../support/sms/sms-queue.ts';
import { claim, receive, referenceTo } from '../support/sms/sms-steps.ts';

const SETTINGS: SmppSettings = {
  ...SMPP_DEFAULTS,
  ...{ kind: 'smpp', host: '127.0.0.1', port: 1, systemId: 'a', password: 'secret' },
};

describeOnBothEngines('when the process has ended', (newDatabase) => {
  test('a part that was never on a connection is simulated after all, and only one in flight to a carrier is in doubt', async (t) => {
    const db = await openSmsDatabase(await newDatabase(t));
    t.after(() => db[Symbol.asyncDispose]());
    const ring = testRing();
    const [{ id: loopback = 0 } = {}] = await listConnectors(db.query);
    const a = await db.transaction((trx) =>
      saveConnector(trx, ring, { name: 'a', enabled: true, settings: SETTINGS }, 1),
    );
    const now = Date.now();
    const account = await openSmsAccount(db, { now });
    for (const [connectorId, route, texts] of [
      [loopback, '+852', ['1', '2']],
      [a, '', ['3']],
    ] as const) {
      await db.transaction((trx) => saveRoute(trx, { prefix: route, connectorIds: [connectorId] }));
      await queueMessage(db, account, { route, texts, now });
      const lanes = [{ route, minTries: 0, maxTries: 4 }];
      await claim(db, { connectorId, lanes, owner: 'dead', now, leaseUntil: now - 1 });
    }
    const states = async () => (await readParts(db)).map(({ state }) => state);
    assert.deepEqual(await states(), ['submitting', 'submitting', 'submitting']);

    const carrier = new ScriptedCarrier();
    const engine = await start(db, ring, carrier);
    await eventually('all are told', async () => {
      assert.deepEqual(await states(), ['simulated', 'simulated', 'uncertain']);
      return true;
    });
    await engine.stop(0);
    assert.deepEqual(carrier.submitted, []);
    await checkMoney(db);
  });

  test('an early receipt settles a part in doubt, however old it is, and a notice is not sent again', async (t) => {
    const db = await openSmsDatabase(await newDatabase(t));
    const ring = testRing();
    const connectorId = await db.transaction((trx) =>
      saveConnector(trx, ring, { name: 'a', enabled: true, settings: SETTINGS }, 1),
    );
    await db.transaction((trx) => saveRoute(trx, { prefix: '', connectorIds: [connectorId] }));
    const thenAt = Date.now() - 5 * HOUR_MS;
    const account = await openSmsAccount(db, { settings: { resendUncertain: true }, now: thenAt });
    const [part = 0] = await queueMessage(db, account, { smsType: 2, expireAt: thenAt + 72 * HOUR_MS, now: thenAt });
    await claim(db, { connectorId, owner: 'dead', now: thenAt });
    assert.deepEqual(
      await receive(db, [{ connectorId, carrierKeys: ['k'], reference: referenceTo(part) }], thenAt + 1_000),
      [],
    );

    const carrier = new ScriptedCarrier();
    const engine = await start(db, ring, carrier);
    t.after(async () => {
      await engine.stop(0);
      await db[Symbol.asyncDispose]();
    });
    await eventually('its receipt is found', async () => {
      assert.deepEqual(
        (await readParts(db)).map(({ state }) => state),
        ['delivered'],
      );
      return true;
    });
    assert.deepEqual(carrier.submitted, []);
    await checkMoney(db);
  });
});

const HOUR_MS = 3_600_000;

/** `carrier`: of the connector a. */
function start(db: Db, ring: Keyring, carrier: ScriptedCarrier): Promise<SmsEngine> {
  const connect = connectScripted({ a: carrier });
  return startSmsEngine({
    ...{ db, ring, owner: randomUUID(), registry: new Registry(), chargeAt: 'submit' },
    connect: (settings, ...rest) =>
      settings.kind === 'loopback' ? connectLoopback(settings, ...rest) : connect(settings, ...rest),
    post: () => Promise.resolve({ kind: 'failed', reason: 'none' }),
    ...{ peers: ALONE, clock: systemClock, timers: systemTimers, random: () => 0 },
    log: createLogger({ level: 'silent', name: 'test' }),
  });
}
