/** What a process that was killed had given to connectors, on both engines: to carriers, and to nobody. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { listConnectors, saveConnector, saveRoute } from '#db/sms-connectors.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import { connectLoopback } from '#sms/connectors/loopback.ts';
import { startSmsEngine } from '#sms/engine.ts';
import { describeOnBothEngines } from './support/databases.ts';
import { eventually } from './support/eventually.ts';
import { connectScripted, ScriptedCarrier } from './support/scripted-carrier.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, readParts, testRing } from './support/sms-queue.ts';
import { claim } from './support/sms-steps.ts';

const SETTINGS: SmppSettings = {
  ...SMPP_DEFAULTS,
  ...{ kind: 'smpp', host: '127.0.0.1', port: 1, systemId: 'a', password: 'secret' },
};

describeOnBothEngines('when the process has ended', (newDatabase) => {
  test('what was on its way to nobody is simulated after all, and only what was on its way to a carrier is in doubt', async (t) => {
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
    const connect = connectScripted({ a: carrier });
    const engine = await startSmsEngine({
      ...{ db, ring, owner: randomUUID(), registry: new Registry(), chargeAt: 'submit' },
      connect: (settings, ...rest) =>
        settings.kind === 'loopback' ? connectLoopback(settings, ...rest) : connect(settings, ...rest),
      post: () => Promise.resolve({ kind: 'failed', reason: 'none' }),
      ...{ clock: systemClock, timers: systemTimers, random: () => 0 },
      log: createLogger({ level: 'silent', name: 'test' }),
    });
    await eventually('all are told', async () => {
      assert.deepEqual(await states(), ['simulated', 'simulated', 'uncertain']);
      return true;
    });
    await engine.stop(0);
    assert.deepEqual(carrier.submitted, []);
    await checkMoney(db);
  });
});
