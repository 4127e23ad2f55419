/** A carrier that refuses everything for the settings of its connector. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listConnectors } from '#db/tables/sms/connectors.ts';
import { observeConnectors } from '#events/connectors.ts';
import type { SubmitOutcome } from '#sms/carrier.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openEngineWorld } from '../support/sms/engine-world.ts';
import { checkMoney, openSmsAccount, queueMessage, readParts } from '../support/sms/sms-queue.ts';

const WRONG_SENDER: SubmitOutcome = { kind: 'refused', status: '0x0000000a', class: 'misconfigured' };

describeOnBothEngines('a connector whose settings are refused', (newDatabase) => {
  test('a campaign goes out by the next connector after ten refusals, and an event says why', async (t) => {
    const { db, a, b, start } = await openEngineWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: Date.now() });
    a.answer = () => WRONG_SENDER;
    a.window = 5;
    b.window = 1;
    for (let n = 0; n < 40; n += 1) await queueMessage(db, account, { now: Date.now() - 40 + n });
    const engine = await start();
    await eventually('each is sent or refused', async () => {
      const states = (await readParts(db)).map(({ state }) => state);
      return states.every((state) => state === 'failed' || state === 'submitted');
    });
    const failed = (await readParts(db)).filter(({ state }) => state === 'failed');
    assert.ok(failed.length >= 1 && failed.length <= 9, `${failed.length} failed`);
    assert.ok(failed.every(({ error }) => error === '0x0000000a'));
    assert.deepEqual(new Set((await readParts(db)).map(({ tries }) => tries)), new Set([0]));
    assert.equal(b.submitted.length, 40 - failed.length);
    await checkMoney(db);

    const [{ id } = assert.fail()] = (await listConnectors(db.query)).filter(({ name }) => name === 'a');
    assert.deepEqual(
      [engine.isUp(id), engine.reports().find(({ connectorId }) => connectorId === id)?.state],
      [false, 'paused'],
    );
    const sources = { isUp: (of: number) => engine.isUp(of), reports: () => engine.reports() };
    assert.deepEqual(await observeConnectors(db, sources, 1_000).observe(0), [
      {
        ...{ kind: 'misconfigured', key: String(id), level: 0, data: { code: '0x0000000a' } },
        target: { kind: 'connector', id: String(id), name: 'a' },
      },
    ]);
  });
});
