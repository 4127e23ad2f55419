import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { backOffMs, CallBudget, delayBefore } from './budget.ts';

/** A clock that only waiting moves. */
function manualClock() {
  const clock = {
    time: 1000,
    now: () => clock.time,
    random: () => 1,
    wait: async (ms: number, signal: AbortSignal | undefined) => {
      signal?.throwIfAborted();
      clock.time += ms;
    },
  };
  return clock;
}

describe('the budget of calls', () => {
  test('no second has more than 20 calls, whatever a page asks for', async () => {
    const clock = manualClock();
    const budget = new CallBudget(clock);
    const starts: number[] = [];
    const work = async () => {
      starts.push(clock.time);
    };
    await Promise.all(Array.from({ length: 100 }, () => budget.run(work, undefined)));
    assert.equal(starts.length, 100);
    for (const start of starts) {
      const within = starts.filter((other) => other >= start && other < start + 1000);
      assert.ok(within.length <= 20, `${within.length} calls from ${start} on`);
    }
  });

  test('no more than 4 calls are in flight, and the others follow in their order', async () => {
    const budget = new CallBudget(manualClock());
    const gates = Array.from({ length: 10 }, () => Promise.withResolvers<void>());
    const order: number[] = [];
    let most = 0;
    let open = 0;
    const calls = gates.map(({ promise }, n) =>
      budget.run(async () => {
        order.push(n);
        open += 1;
        most = Math.max(most, open);
        await promise;
        open -= 1;
      }, undefined),
    );
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    for (const { resolve } of gates) resolve();
    await Promise.all(calls);
    assert.equal(most, 4);
    assert.deepEqual(order, [...gates.keys()]);
  });

  test('a call that is given up while it waits is not made, and holds up no other', async () => {
    const clock = manualClock();
    const budget = new CallBudget(clock);
    budget.pause(5000);
    const given = new AbortController();
    const dropped = budget.run(async () => assert.fail('it was made'), given.signal);
    const next = budget.run(async () => clock.time, undefined);
    given.abort();
    await assert.rejects(dropped, { name: 'AbortError' });
    assert.equal(await next, 6000);
  });

  test('failures pause all calls for longer and longer, a success ends that, and so does a person', async () => {
    const clock = manualClock();
    const budget = new CallBudget(clock);
    budget.noteFailure();
    budget.noteFailure(); // of a call that was in flight at the same time
    await budget.run(async () => budget.noteFailure(), undefined);
    assert.equal(clock.time, 2000);
    await budget.run(async () => budget.noteSuccess(), undefined);
    assert.equal(clock.time, 4000);
    budget.noteFailure();
    budget.resume();
    await budget.run(async () => undefined, undefined);
    assert.equal(clock.time, 4000);
  });

  test('pauses are 1 to 30 s, and half of that at least', () => {
    assert.deepEqual(
      [1, 2, 3, 6, 60].map((failures) => backOffMs(failures, 1)),
      [1000, 2000, 4000, 30_000, 30_000],
    );
    assert.equal(backOffMs(1, 0), 500);
    assert.equal(delayBefore([], 0, 7), 0);
  });
});
