/** Parts in doubt of SGIP: the id of a message is ours, so that a report settles its part. docs/decisions/0758 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { saveConnector } from '#db/tables/sms/connectors.ts';
import { connectCarrier } from '#sms/connectors/connect.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { sgipSettings } from '../support/sms/connect-sgip.ts';
import { type EngineWorld, openEngineWorld, untilStates } from '../support/sms/engine-world.ts';
import { type GatewayAnswer, ScriptedGateway } from '../support/sms/scripted-gateway.ts';
import { checkMoney, openSmsAccount, queueMessage } from '../support/sms/sms-queue.ts';

type Cleanup = Parameters<typeof openEngineWorld>[0];

describeOnBothEngines('parts in doubt of SGIP', (newDatabase) => {
  test('a report settles its part although the answer never came', async (t) => {
    const { db, start, gateway } = await openWorld(t, newDatabase, ['report only', 'silence', 'ok']);
    await queueMessages(db, 3);
    await start({ connect: connectCarrier });
    await untilStates(db, 'delivered', 'uncertain', 'delivered');
    const [, lost = assert.fail()] = gateway.submits;
    await gateway.report({ id: lost.sequence, number: lost.number, state: 2, errorCode: 29 });
    await untilStates(db, 'delivered', 'failed', 'delivered');
    assert.equal(gateway.submits.length, 3);
    await checkMoney(db);
  });

  test('a report settles its part after the engine has ended with the answer due', async (t) => {
    const { db, start, gateway } = await openWorld(t, newDatabase, Array<GatewayAnswer>(3).fill('silence'));
    await queueMessages(db, 3);
    const first = await start({ connect: connectCarrier });
    await eventually('all are out', () => gateway.submits.length === 3);
    await first.stop(0);
    await start({ connect: connectCarrier });
    for (const { sequence, number } of gateway.submits) await gateway.report({ id: sequence, number });
    await untilStates(db, 'delivered', 'delivered', 'delivered');
    assert.equal(gateway.submits.length, 3);
    await checkMoney(db);
  });
});

async function openWorld(
  t: Cleanup,
  newDatabase: Parameters<typeof openEngineWorld>[1],
  answers: readonly GatewayAnswer[],
): Promise<EngineWorld & { readonly gateway: ScriptedGateway }> {
  const world = await openEngineWorld(t, newDatabase);
  const listener = await freePort();
  const gateway = await new ScriptedGateway({ kind: 'sgip', listener, answers }).listen(t);
  const settings = sgipSettings(gateway.port, listener, { responseSeconds: 1 });
  await world.db.transaction((trx) => saveConnector(trx, world.ring, { name: 'a', enabled: true, settings }, 2));
  return { ...world, gateway };
}

/** Queues messages to numbers of their own, so that nothing but the reference and the number tells them apart. */
async function queueMessages(db: Db, count: number): Promise<void> {
  const account = await openSmsAccount(db, { now: Date.now() });
  const now = Date.now() - 10;
  for (let n = 0; n < count; n += 1)
    await queueMessage(db, account, { destination: `+861380013800${n}`, now: now + n });
}
