/** A carrier that answers no part of a message before it has them all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartToSubmit, SubmitOutcome } from '#sms/carrier.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openEngineWorld } from '../support/sms/engine-world.ts';
import { accepted } from '../support/sms/scripted-carrier.ts';
import { checkMoney, openSmsAccount, queueMessage, readParts } from '../support/sms/sms-queue.ts';

describeOnBothEngines('a carrier that merges long messages', (newDatabase) => {
  test('every part gets its answer, whatever the window leaves of room', async (t) => {
    const { db, a, start } = await openEngineWorld(t, newDatabase);
    const accounts = [await openSmsAccount(db, { now: Date.now() }), await openSmsAccount(db, { now: Date.now() })];
    a.wholeMessages = true;
    a.window = 10;
    const waiting = new Map<string, { part: PartToSubmit; answer: PromiseWithResolvers<SubmitOutcome> }[]>();
    a.answer = async (part) => {
      const answer = Promise.withResolvers<SubmitOutcome>();
      const parts = [...(waiting.get(part.destination) ?? []), { part, answer }];
      waiting.set(part.destination, parts);
      if (parts.length === part.parts)
        for (const one of parts) one.answer.resolve(accepted(`${part.destination}/${one.part.part}`));
      return await answer.promise;
    };
    const now = Date.now() - 1_000;
    for (const [n, count] of [1, 9, 3, 1, 8, 2, 9, 1, 5, 4].entries()) {
      const texts = Array.from({ length: count }, (_, part) => `${part + 1}`);
      const [account = assert.fail()] = accounts.slice(n % 2);
      await queueMessage(db, account, { texts, destination: `+86138001380${n}0`, now: now + n });
    }
    await start();
    await eventually('every part is submitted', async () =>
      (await readParts(db)).every(({ state }) => state === 'submitted'),
    );
    for (const [n, { destination, parts, part, partsLeft }] of a.submitted.entries()) {
      assert.equal(partsLeft, parts - part);
      if (partsLeft > 0) assert.equal(a.submitted[n + 1]?.destination, destination);
    }
    await checkMoney(db);
  });
});
