/** What the engine makes of a PostgreSQL that goes away, and of one that does what it is told and cannot say so. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startRelay } from '../support/relay.ts';
import { needs } from '../support/runner/needs.ts';
import { openEngineWorld, untilStates } from '../support/sms/engine-world.ts';
import { accepted } from '../support/sms/scripted-carrier.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, readParts } from '../support/sms/sms-queue.ts';

/** An engine whose way to the database a test can cut, and `direct`: one that it cannot. */
async function openRelayedWorld(t: TestContext) {
  const target = await newPostgres(t);
  const relay = await startRelay(target.url ?? '');
  t.after(() => relay[Symbol.asyncDispose]());
  const { a, start } = await openEngineWorld(t, async () => ({ ...target, url: relay.url }));
  const direct = await openSmsDatabase(target);
  t.after(() => direct[Symbol.asyncDispose]());
  return { relay, a, start, direct };
}

test(
  'answers of carriers while PostgreSQL is away are stored when it is back, and nothing is sent twice',
  needs('postgres'),
  async (t) => {
    const { relay, a, start, direct } = await openRelayedWorld(t);
    const account = await openSmsAccount(direct, { now: Date.now() });
    for (let n = 0; n < 20; n += 1) await queueMessage(direct, account, { texts: [`${n}`], now: Date.now() });
    const { promise: isAway, resolve: leave } = Promise.withResolvers<void>();
    a.answer = async (_part, n) => {
      await isAway;
      return accepted(`id-${n}`);
    };
    const engine = await start();
    await eventually('a window is out', () => a.submitted.length === 10);
    relay.cut();
    leave();
    await assert.rejects(engine.reload(), 'it is away');
    relay.mend();
    await untilStates(direct, ...Array.from({ length: 20 }, () => 'submitted'));
    assert.equal(a.submitted.length, 20);
    await checkMoney(direct);
  },
);

test('parts claimed by a commit whose answer was lost are sent after all, once', needs('postgres'), async (t) => {
  const { relay, a, start, direct } = await openRelayedWorld(t);
  await start();
  relay.loseAnswersTo('commit');
  const account = await openSmsAccount(direct, { now: Date.now() });
  await queueMessage(direct, account, { texts: ['one', 'two'], now: Date.now() });
  await untilStates(direct, 'submitting', 'submitting');
  relay.mend();
  await untilStates(direct, 'submitted', 'submitted');
  assert.equal(a.submitted.length, 2);
  assert.deepEqual(
    (await readParts(direct)).map(({ sends }) => sends),
    [1, 1],
  );
  await checkMoney(direct);
});

test('a sent part whose result a fail-over has lost is in doubt, and not sent again', needs('postgres'), async (t) => {
  const { a, start, direct } = await openRelayedWorld(t);
  await start({ owner: 'us' });
  const account = await openSmsAccount(direct, { now: Date.now() });
  await queueMessage(direct, account, { texts: ['one'], now: Date.now() });
  await untilStates(direct, 'submitted');
  // As on a standby that had the claim and not the result.
  const before = { state: 'submitting', lease_owner: 'us', lease_until: Date.now() - 1 };
  await direct.query.updateTable('sms_part').set(before).execute();
  await untilStates(direct, 'uncertain');
  assert.equal(a.submitted.length, 1);
});
